import type { LoadReads, PlacedRequest } from '../store/load-reads.ts';

/** Number of places that are read again, because a request may appear below others (`LoadReads.requestsAfter`). */
const WINDOW = 1_000;
const PAGE = 1_000;

/** Position of a feed, from which a later one can continue. */
export interface FeedPosition {
  readonly newest: number;
  /** Places below `newest` at which nothing has been found yet. */
  readonly missing: readonly number[];
}

/** Feed of the model requests that all processes add to the ledger, each once, from a given position or from now on. */
export class RequestFeed {
  readonly #store: LoadReads;
  readonly #from: FeedPosition | null;
  /** Identity of the request found at each of the newest places; a place may be reused. */
  readonly #seen = new Map<number, string>();
  #newest = 0;
  #has_begun = false;

  constructor(store: LoadReads, from: FeedPosition | null = null) {
    this.#store = store;
    this.#from = from;
  }

  /** Returns the requests that are new since the last call, at most one page. */
  async next(): Promise<readonly PlacedRequest[]> {
    if (!this.#has_begun) await this.#begin();
    return this.#note(await this.#window(this.#newest));
  }

  get place(): FeedPosition {
    const missing: number[] = [];
    for (let place = Math.max(1, this.#newest - WINDOW + 1); place < this.#newest; place += 1)
      if (!this.#seen.has(place)) missing.push(place);
    return { newest: this.#newest, missing };
  }

  async #begin(): Promise<void> {
    const { newest, missing } = this.#from ?? { newest: await this.#store.lastRequest(), missing: [] };
    const late = new Set(missing);
    this.#note((await this.#window(newest)).filter(({ place }) => place <= newest && !late.has(place)));
    this.#newest = newest;
    this.#has_begun = true;
  }

  #window(newest: number): Promise<readonly PlacedRequest[]> {
    return this.#store.requestsAfter(Math.max(0, newest - WINDOW), WINDOW + PAGE);
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
