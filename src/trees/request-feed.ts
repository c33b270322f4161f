import type { LoadReads, PlacedRequest } from '../store/load-ledger.ts';

/** Number of places that are read again, because a request may appear below others (`LoadReads.requestsAfter`). */
const WINDOW = 1_000;
/** Number of new requests that `next` returns at least if there are more. */
export const PAGE = 1_000;

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

  /** Returns requests that are new since the last call: all of them if it returns fewer than `PAGE`. */
  async next(): Promise<readonly PlacedRequest[]> {
    if (!this.#has_begun) await this.#begin(this.#from ?? (await this.#end()));
    const found = await this.#window(this.#newest);
    if (found.length === 0 && this.#newest > 0) await this.#goBack();
    return this.#note(found);
  }

  get place(): FeedPosition {
    const missing: number[] = [];
    for (let place = Math.max(1, this.#newest - WINDOW + 1); place < this.#newest; place += 1)
      if (!this.#seen.has(place)) missing.push(place);
    return { newest: this.#newest, missing };
  }

  async #begin({ newest, missing }: FeedPosition): Promise<void> {
    const late = new Set(missing);
    const found = await this.#window(newest);
    this.#seen.clear();
    this.#newest = newest;
    this.#note(found.filter(({ place }) => place <= newest && !late.has(place)));
    this.#has_begun = true;
  }

  async #end(): Promise<FeedPosition> {
    return { newest: await this.#store.lastRequest(), missing: [] };
  }

  /** Begins again at the end if it lies below the window: so many of the newest requests were removed, and later ones may get their places. */
  async #goBack(): Promise<void> {
    const end = await this.#end();
    if (end.newest < this.#newest) await this.#begin(end);
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
