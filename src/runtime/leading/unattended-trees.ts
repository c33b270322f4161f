import type { Cell } from '../executor/cell.ts';

/** Abort reason of calls that `UnattendedTrees.stopCalls` stops. */
export const LEASE_OVER = new Error('the lease could not be renewed');

/** Trees that this process took over without a person's request: other processes do so too, as soon as its lease runs out. */
export class UnattendedTrees {
  readonly #roots = new Set<string>();

  add(root_id: string): void {
    this.#roots.add(root_id);
  }

  forget(root_id: string): void {
    this.#roots.delete(root_id);
  }

  /** Stops their calls before the lease ends, so that no call runs in two processes. Their results count if nobody has taken over. */
  stopCalls(cells: Iterable<Cell>): void {
    for (const cell of cells)
      if (this.#roots.has(cell.agent.root_id))
        for (const controller of cell.calls.values()) controller.abort(LEASE_OVER);
  }
}
