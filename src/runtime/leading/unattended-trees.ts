import type { Cell } from '../executor/cell.ts';

/** Why a call was stopped: see `UnattendedTrees.stopCalls`. */
export const LEASE_OVER = new Error('the lease could not be renewed');

/** What a call says that was stopped for that reason. */
export const STOPPED =
  'Interrupted: the ledger could not be reached for so long that another process may have gone on with this agent, so the call was stopped. It may have happened in part. Check before you repeat it.';

/** Trees that this process took over by itself: others do so too, as soon as its lease has run out. */
export class UnattendedTrees {
  readonly #roots = new Set<string>();

  add(root_id: string): void {
    this.#roots.add(root_id);
  }

  forget(root_id: string): void {
    this.#roots.delete(root_id);
  }

  /** Nothing of theirs may run here while it may run elsewhere (DESIGN.md, Leases). What they bring counts if nobody has taken over. */
  stopCalls(cells: Iterable<Cell>): void {
    for (const cell of cells)
      if (this.#roots.has(cell.agent.root_id))
        for (const controller of cell.calls.values()) controller.abort(LEASE_OVER);
  }
}
