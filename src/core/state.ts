import type { Failure } from './failure.ts';

/** One tool call of the current turn. What the scheduler must know of its tool was stamped on it when the answer came in. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** Raw JSON text as the model wrote it. */
  readonly input: string;
  /** May run beside other such calls of the same message. */
  readonly side_by_side: boolean;
  /** Safe to run again after a crash; all others become `interrupted`. */
  readonly idempotent: boolean;
}

/** What a parked `wait` call waits for (seed 1, Wait Semantics). */
export interface WaitSpec {
  /** Null: next message from anyone. Else fan-in: every listed agent, in the order of the arguments. */
  readonly from: readonly string[] | null;
  /** Milliseconds since the epoch at which it ends with what is there. */
  readonly deadline: number;
}

/** A call in flight; `wait` is set while it is parked in the ledger instead of running in a process. */
export interface RunningCall {
  readonly call: Call;
  readonly wait?: WaitSpec;
}

export type ChildOutcome =
  | { readonly type: 'success'; readonly result: string }
  | {
      readonly type: 'failure';
      readonly error: string;
      readonly error_kind: Failure['kind'];
      readonly partial?: string;
    };

export interface ChildResult {
  readonly agent_id: string;
  readonly outcome: ChildOutcome;
}

/** The running count of one turn: what limits and the repeated-failure breaker look at. */
export interface Turn {
  /** Model requests answered in this turn. */
  readonly requests: number;
  /** The last failed call (name, input, error), in how many requests in a row it failed, and the last of these. */
  readonly failing: { readonly signature: string; readonly times: number; readonly request: number } | null;
  /** True after a limit was reached: one last answer without tools. */
  readonly grace: boolean;
  /** A child that must submit was reminded of it once (seed 3). */
  readonly nudged: boolean;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
}

/**
 * The state of one agent, a tagged union (DESIGN.md, Kernel). `completed`, `failed` and `killed` are
 * terminal: no event leads out of them (law 3).
 */
export type AgentState =
  | { readonly type: 'idle' }
  | { readonly type: 'requesting'; readonly attempt: number; readonly turn: Turn }
  | {
      readonly type: 'executing';
      /** Seq of the assistant message whose calls these are: the fork point of its forks. */
      readonly seq: number;
      readonly running: readonly RunningCall[];
      readonly queued: readonly Call[];
      /** Ids of settled calls, in the order they settled; their results are messages. */
      readonly results: readonly string[];
      /** Children whose results this turn must await. */
      readonly spawned: readonly string[];
      /** Results of such children that came before the turn was ready for them. */
      readonly early: readonly ChildResult[];
      readonly turn: Turn;
    }
  | {
      readonly type: 'awaiting';
      readonly pending: readonly string[];
      readonly results: readonly ChildResult[];
      readonly turn: Turn;
    }
  | {
      readonly type: 'cancelling';
      readonly pending: readonly string[];
      readonly results: readonly ChildResult[];
      readonly reason: string;
    }
  | { readonly type: 'errored'; readonly failure: Failure }
  | { readonly type: 'completed'; readonly result: string }
  | { readonly type: 'failed'; readonly failure: Failure; readonly partial?: string }
  | { readonly type: 'killed'; readonly by: string };

export type StateType = AgentState['type'];

export function newTurn(started_at: number): Turn {
  return { requests: 0, failing: null, grace: false, nudged: false, started_at };
}

export function isTerminal(type: StateType): boolean {
  return type === 'completed' || type === 'failed' || type === 'killed';
}

/** At work: a turn is in progress. An idle, errored or terminal agent does nothing until something reaches it. */
export function isWorking(type: StateType): boolean {
  return type === 'requesting' || type === 'executing' || type === 'awaiting' || type === 'cancelling';
}
