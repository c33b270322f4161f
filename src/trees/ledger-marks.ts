import type { AgentMark, Store } from '../store/store.ts';

/** Number of newest roots whose changes are noticed even if nobody leads or watches them. */
const NEWEST_ROOTS = 200;
/** Maximum agents of other processes that are followed without being watched. */
const LED_MAX = 2_000;

export interface MarkChanges {
  /** Agents of other processes that are new or have changed since the last look. */
  readonly changed: readonly AgentMark[];
  /** Agents that no other process leads any more, or that were deleted; which of both, only the ledger tells. */
  readonly vanished: readonly AgentMark[];
  readonly watched: ReadonlyMap<string, readonly AgentMark[]>;
}

/**
 * Detects what other processes change in the ledger by comparing snapshots of the agents that others lead, the newest roots, and the watched trees in full.
 * Costs two reads of a few columns, and one for each watched tree, however long the history is.
 */
export class LedgerMarks {
  readonly #store: Store;
  readonly #worker_id: string;
  #known: ReadonlyMap<string, AgentMark> | null = null;

  /** `worker_id` is this process, whose own agents are reported by events of the runtime. */
  constructor(store: Store, worker_id: string) {
    this.#store = store;
    this.#worker_id = worker_id;
  }

  /** Compares with the previous look. The first look finds no changes. */
  async look(root_ids: readonly string[]): Promise<MarkChanges> {
    const [led, roots, ...trees] = await Promise.all([
      this.#store.marks({ led_without: this.#worker_id, limit: LED_MAX }),
      this.#store.marks({ newest_roots: NEWEST_ROOTS }),
      ...root_ids.map((root_id) => this.#store.marks({ root_id })),
    ]);
    const now = new Map([...led, ...roots, ...trees.flat()].map((mark) => [mark.id, mark]));
    const before = this.#known ?? now;
    this.#known = now;
    const ofOthers = ({ worker }: AgentMark) => worker !== this.#worker_id;
    return {
      changed: [...now.values()].filter(
        (mark) => before.get(mark.id)?.version !== mark.version && ofOthers(mark),
      ),
      vanished: [...before.values()].filter((mark) => !now.has(mark.id) && ofOthers(mark)),
      watched: new Map(root_ids.map((root_id, index) => [root_id, trees[index] ?? []])),
    };
  }

  forget(): void {
    this.#known = null;
  }
}
