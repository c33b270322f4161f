import type { Call } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { Step } from '../step.ts';
import type { Need } from '../toolsets/toolset.ts';
import type { Effect } from '../transition/effect.ts';

/** Effects that are performed after the commit. */
export type WorldEffect = Extract<
  Effect,
  { type: 'request-model' | 'run-call' | 'answer-program' | 'start-timer' | 'await-provider' | 'abort' }
>;

/** A call of a toolset that can be decided only after this step is committed and its names and needs are looked up. */
export interface DeferredCall {
  readonly call: Call;
  readonly look_up: readonly string[];
  readonly needs: readonly Need[];
  /** Whether all agents of the tree must be read from the ledger. */
  readonly survey: boolean;
  /** Whether it is decided after all other calls. */
  readonly last?: true;
}

/** A wait for agents that a step parks; `call_id`: id of the call, or of the person's order. */
export interface ParkedWait {
  readonly call_id: string;
  readonly from: readonly string[];
}

/** The decision of `advance`, as data: nothing of it is done yet. */
export interface Advance {
  /** To be committed; null: there is nothing to write. */
  readonly step: Step | null;
  /** To be performed after the commit, in order. */
  readonly effects: readonly WorldEffect[];
  /** To be prepared after that, and passed to `advance` again. */
  readonly deferred: readonly DeferredCall[];
  /** Ids of mail that the step consumes. */
  readonly consumed: ReadonlySet<string>;
  readonly parked: readonly ParkedWait[];
  /** Keys of answers (`needKey`) that decided calls have used; the next call looks them up again. */
  readonly answered: readonly string[];
  /** Worktrees made for calls that were not admitted. */
  readonly unused: readonly Worktree[];
  /** The next `LedAgent.wait_cursors`, whether or not the step is committed. */
  readonly wait_cursors: ReadonlyMap<string, number>;
  /** Whether the agent's run begins with the step or waits for its turn; null: neither. */
  readonly run: 'begins' | 'queues' | null;
}
