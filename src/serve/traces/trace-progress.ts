import type { Store } from '../../store/store.ts';
import type { FeedPosition } from '../../trees/request-feed.ts';

/** Name of the exporter's seat and notes in the ledger, which it shares with channels. */
export const SEAT = 'traces';
const PLACE = 'place';

interface Kept {
  readonly feed: FeedPosition;
  /** Ledger time of this record; trees forgotten by then had ended before. */
  readonly at: number;
  /** Trees with turns still to be exported, each with the time from which its turns count, in milliseconds since the epoch. */
  readonly trees: Readonly<Record<string, number>>;
}

/** Progress of the exporter, kept in the ledger, so that the next holder of the seat continues from there. Finished trees are removed. */
export class TraceProgress {
  readonly #store: Store;
  readonly trees: Map<string, number>;
  readonly feed: FeedPosition | null;
  #at: number | null;
  /** Newest exported turn of each agent, by tree. */
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

  /** Ledger time at which progress was last kept; null: never. */
  get at(): number | null {
    return this.#at;
  }

  async keep(feed: FeedPosition): Promise<void> {
    this.#at = await this.#store.now();
    const kept: Kept = { feed, at: this.#at, trees: Object.fromEntries(this.trees) };
    await this.#store.remember(SEAT, PLACE, JSON.stringify(kept));
  }

  /** Message that began the newest exported turn, by agent. */
  async exported(root_id: string): Promise<ReadonlyMap<string, number>> {
    const known = this.#exported.get(root_id);
    if (known !== undefined) return known;
    const text = await this.#store.recall(SEAT, root_id);
    const read = new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, number>));
    this.#exported.set(root_id, read);
    return read;
  }

  /** Records that these turns were acknowledged. */
  async add(
    root_id: string,
    turns: readonly { readonly agent_id: string; readonly seq: number }[],
  ): Promise<void> {
    const all = new Map(await this.exported(root_id));
    for (const { agent_id, seq } of turns) all.set(agent_id, seq);
    this.#exported.set(root_id, all);
    await this.#store.remember(SEAT, root_id, JSON.stringify(Object.fromEntries(all)));
  }

  /** Removes a tree with nothing left to export. Saves the list first: a note of an unlisted tree is harmless. */
  async forget(root_id: string, feed: FeedPosition): Promise<void> {
    this.trees.delete(root_id);
    this.#exported.delete(root_id);
    await this.keep(feed);
    await this.#store.remember(SEAT, root_id, null);
  }
}
