import type { Call } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { Step } from '../step.ts';
import type { Need } from '../toolsets/toolset.ts';
import type { Effect } from '../transition/effect.ts';

/** Effects that are performed after the commit. */
export type WorldEffect = Extract<Effect, { type: 'request-model' | 'run-call' | 'start-timer' | 'abort' }>;

/** A call of a toolset that must see this step committed, names looked up, or needs found out, before it is decided. */
export interface DeferredCall {
  readonly call: Call;
  readonly look_up: readonly string[];
  readonly needs: readonly Need[];
  /** Everybody of the tree must be looked up. */
  readonly survey: boolean;
  /** The others are decided before it. */
  readonly last?: true;
}

/** A fan-in wait that a step parks; `call_id`: the call's, or that of the person's order. */
export interface ParkedWait {
  readonly call_id: string;
  readonly from: readonly string[];
}

/** What comes of all that waited at one agent, as data: nothing of it is done yet. */
export interface Advance {
  /** For the ledger; null: there is nothing to write. */
  readonly step: Step | null;
  /** To be performed once the step is written, in order. */
  readonly effects: readonly WorldEffect[];
  /** To be made ready after that, and given in again. */
  readonly deferred: readonly DeferredCall[];
  /** Ids of letters that the step takes out of the mailbox. */
  readonly consumed: ReadonlySet<string>;
  readonly parked: readonly ParkedWait[];
  /** Keys of what was found out for calls that are decided now: the world changes, so the next call asks anew. */
  readonly answered: readonly string[];
  /** Worktrees that were made for calls which then were not admitted. */
  readonly unused: readonly Worktree[];
  /** For the next look at the waits that go on (`LedAgent.wait_cursors`); true whether or not the step is written. */
  readonly wait_cursors: ReadonlyMap<string, number>;
  /** The agent's run begins with the step, or waits for its turn; null: neither. */
  readonly run: 'begins' | 'queues' | null;
}
