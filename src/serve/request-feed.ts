import type { LoadReads, PlacedRequest } from '../store/load-reads.ts';

/** So many places are read again, since a request may appear below others (`LoadReads.requestsAfter`). */
const WINDOW = 1_000;
const PAGE = 1_000;

/** Every model request that the ledger gets from now on, of all processes, each once. */
export class RequestFeed {
  readonly #store: LoadReads;
  /** Who was found at the newest places: a place may be used again. */
  readonly #seen = new Map<number, string>();
  #newest = 0;
  #is_primed = false;

  constructor(store: LoadReads) {
    this.#store = store;
  }

  /** What is new since the last call, at most a page. The first call finds where the feed begins. */
  async next(): Promise<readonly PlacedRequest[]> {
    if (!this.#is_primed) {
      this.#newest = await this.#store.lastRequest();
      this.#note(await this.#window());
      this.#is_primed = true;
      return [];
    }
    return this.#note(await this.#window());
  }

  #window(): Promise<readonly PlacedRequest[]> {
    return this.#store.requestsAfter(Math.max(0, this.#newest - WINDOW), WINDOW + PAGE);
  }

  #note(found: readonly PlacedRequest[]): readonly PlacedRequest[] {
    const fresh = found.filter((one) => this.#seen.get(one.place) !== identity(one));
    for (const one of fresh) this.#seen.set(one.place, identity(one));
    this.#newest = Math.max(this.#newest, ...found.map(({ place }) => place));
    for (const place of this.#seen.keys()) if (place <= this.#newest - WINDOW) this.#seen.delete(place);
    return fresh;
  }
}

function identity({ agent_id, started_at }: PlacedRequest): string {
  return `${agent_id} ${started_at}`;
}
