import type { ChildResult } from '../../agent/state.ts';

/** What has arrived for a workflow: the end of one of its agents, or a letter. */
export type WorkflowNews =
  | ChildResult
  | { readonly from: string; readonly name: string; readonly text: string };

export interface WorkflowWait {
  /** Milliseconds since the epoch: timers up to then are due. */
  readonly now: number;
  /** Tokens of its budget that are spent by then; absent: as far as was told before. */
  readonly spent?: number;
  /** In the order in which the ledger has it. */
  readonly arrived: readonly WorkflowNews[];
}
