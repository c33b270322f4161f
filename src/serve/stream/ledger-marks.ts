import type { AgentMark, Store } from '../../store/store.ts';

/** Roots whose changes are noticed although nobody leads or watches them. */
const NEWEST_ROOTS = 200;
/** Agents of other processes that are followed without being watched. */
const LED_MAX = 2_000;

export interface MarkChanges {
  /** Agents of other processes that are new or have changed since the last look. */
  readonly changed: readonly AgentMark[];
  /** Agents that no other process leads any more, or that are no longer there: only the ledger knows. */
  readonly vanished: readonly AgentMark[];
  /** Every agent of the watched trees, by tree. */
  readonly watched: ReadonlyMap<string, readonly AgentMark[]>;
}

/**
 * What other processes change in the ledger, found by comparing: agents that others lead, the newest roots, and the watched trees in full. Costs three
 * reads of a few columns, however long the history is.
 */
export class LedgerMarks {
  readonly #store: Store;
  readonly #worker_id: string;
  #known: ReadonlyMap<string, AgentMark> | null = null;

  /** `worker_id`: this process, whose own agents tell by themselves. */
  constructor(store: Store, worker_id: string) {
    this.#store = store;
    this.#worker_id = worker_id;
  }

  /** The first look finds no changes: it is what the others are compared with. */
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
