import type { Store } from '../../store/store.ts';
import type { FeedPlace } from '../request-feed.ts';

/** The seat and the notes of the exporter in the ledger, beside those of channels. */
export const SEAT = 'traces';
const PLACE = 'place';

interface Kept {
  readonly feed: FeedPlace;
  /** The ledger's clock; what was forgotten had ended before. */
  readonly at: number;
  /** Trees with turns to come, each with the time from which turns count: milliseconds since the epoch. */
  readonly trees: Readonly<Record<string, number>>;
}

/** How far the exporter is, kept in the ledger: whoever takes its seat goes on from there. What ended is forgotten. */
export class TraceProgress {
  readonly #store: Store;
  readonly trees: Map<string, number>;
  readonly feed: FeedPlace | null;
  #at: number | null;
  /** The newest exported turn of each agent, by tree. */
  readonly #exported = new Map<string, Map<string, number>>();

  private constructor(store: Store, kept: Kept | null) {
    this.#store = store;
    this.feed = kept?.feed ?? null;
    this.#at = kept?.at ?? null;
    this.trees = new Map(Object.entries(kept?.trees ?? {}));
  }

  static async read(store: Store): Promise<TraceProgress> {
    const text = await store.recall(SEAT, PLACE);
    return new TraceProgress(store, text === null ? null : (JSON.parse(text) as Kept));
  }

  /** When it was last kept; null: never. */
  get at(): number | null {
    return this.#at;
  }

  async keep(feed: FeedPlace): Promise<void> {
    this.#at = await this.#store.now();
    const kept: Kept = { feed, at: this.#at, trees: Object.fromEntries(this.trees) };
    await this.#store.remember(SEAT, PLACE, JSON.stringify(kept));
  }

  /** By agent: the message that began its newest exported turn. */
  async exported(root_id: string): Promise<ReadonlyMap<string, number>> {
    const known = this.#exported.get(root_id);
    if (known !== undefined) return known;
    const text = await this.#store.recall(SEAT, root_id);
    const read = new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, number>));
    this.#exported.set(root_id, read);
    return read;
  }

  /** These turns were acknowledged. */
  async add(
    root_id: string,
    turns: readonly { readonly agent_id: string; readonly seq: number }[],
  ): Promise<void> {
    const all = new Map(await this.exported(root_id));
    for (const { agent_id, seq } of turns) all.set(agent_id, seq);
    this.#exported.set(root_id, all);
    await this.#store.remember(SEAT, root_id, JSON.stringify(Object.fromEntries(all)));
  }

  /** Nothing more is to come of it for now. The list first: a note without its tree does no harm. */
  async forget(root_id: string, feed: FeedPlace): Promise<void> {
    this.trees.delete(root_id);
    this.#exported.delete(root_id);
    await this.keep(feed);
    await this.#store.remember(SEAT, root_id, null);
  }
}
