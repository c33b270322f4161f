import type { Failure } from '../conversation/failure.ts';

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

/** A call in flight; `wait`, `child` or an unanswered `ask` is there while it is parked in the ledger instead of running in a process. */
export interface RunningCall {
  readonly call: Call;
  readonly wait?: WaitSpec;
  /** The child whose outcome will be its result (seed 5). */
  readonly child?: string;
  /** What a person was asked before it may run, and since when the turn's clock stands still for it. */
  readonly ask?: { readonly id: string; readonly at: number };
  /** The person allowed it: it runs. */
  readonly approved?: boolean;
}

/** What a result is less than it was asked for. */
export interface Reservations {
  /** The limit that ended the child: the result is what it had by then. */
  readonly limit?: string;
  /** It answered in words instead of submitting. */
  readonly unsubmitted?: true;
}

export type ChildOutcome =
  | ({ readonly type: 'success'; readonly result: string } & Reservations)
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

/** A child whose result the turn must await. */
export interface SpawnedChild {
  readonly agent_id: string;
  /** What it was told to do: stands beside its result (seed 3, Aggregated Results Format). */
  readonly task: string;
}

/** A call that failed in the newest request or the one before it. */
export interface FailingCall {
  /** Fingerprint of name, input and error. */
  readonly signature: string;
  /** In how many requests in a row it failed so. */
  readonly times: number;
  /** The last of these, counted as `Turn.requests`. */
  readonly request: number;
}

/** What is held against the calls of a turn: processes died while they ran. */
export interface DeadlyCalls {
  /** The ledger's count of such deaths, as far as it is reckoned in here. */
  readonly deaths: number;
  /** How many of them with no call of the agent settled in between. */
  readonly in_a_row: number;
  /** In how many of them a call ran, by the fingerprint of its name and input. */
  readonly calls: readonly { readonly signature: string; readonly times: number }[];
}

/** The running count of one turn: what limits and the repeated-failure breaker look at. */
export interface Turn {
  /** Model requests answered in this turn. */
  readonly requests: number;
  readonly failing: readonly FailingCall[];
  /** Not there while no process has died in this turn. */
  readonly deadly?: DeadlyCalls;
  /** The limit that was reached: one last answer without tools follows, and this failure if it brings nothing. */
  readonly grace: Failure | null;
  /** The time for the last word came while a request was under way: that answer counts, and no call of it is run. */
  readonly late?: Failure;
  /** A child that must submit was reminded of it, once (seed 3): what it had answered instead. */
  readonly reminded?: string;
  /** The newest answer was cut or empty, and the model was asked once more: what it had said so far. */
  readonly unfinished?: string;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
}

/**
 * The state of one agent, a tagged union (DESIGN.md, Kernel). `completed`, `failed` and `killed` are
 * terminal: no event leads out of them (law 3).
 */
export type AgentState =
  /** `limit`: the one that ended its newest turn. */
  | { readonly type: 'idle'; readonly limit?: string }
  /** A person waits here for mail (seed 1, `/wait`). */
  | { readonly type: 'waiting'; readonly wait: WaitSpec; readonly since: number }
  | { readonly type: 'requesting'; readonly attempt: number; readonly turn: Turn }
  | {
      readonly type: 'executing';
      /** Seq of the assistant message whose calls these are: the fork point of its forks. */
      readonly seq: number;
      readonly running: readonly RunningCall[];
      readonly queued: readonly Call[];
      /** Ids of settled calls, in the order they settled; their results are messages. */
      readonly results: readonly string[];
      /** Children whose results this turn must await, in the order of their creation. */
      readonly spawned: readonly SpawnedChild[];
      /** Results of such children that came before the turn was ready for them. */
      readonly early: readonly ChildResult[];
      readonly turn: Turn;
    }
  /** Fan-in (seed 3): every child of `spawned` is in `pending` or in `results`. */
  | {
      readonly type: 'awaiting';
      readonly pending: readonly string[];
      readonly results: readonly ChildResult[];
      readonly spawned: readonly SpawnedChild[];
      readonly turn: Turn;
    }
  | {
      readonly type: 'cancelling';
      readonly pending: readonly string[];
      readonly results: readonly ChildResult[];
      readonly spawned: readonly SpawnedChild[];
      readonly reason: string;
      readonly turn: Turn;
    }
  | { readonly type: 'errored'; readonly failure: Failure }
  | ({ readonly type: 'completed'; readonly result: string } & Reservations)
  | { readonly type: 'failed'; readonly failure: Failure; readonly partial?: string }
  | { readonly type: 'killed'; readonly by: string };

export type StateType = AgentState['type'];
export type Executing = Extract<AgentState, { readonly type: 'executing' }>;
export type FanIn = Extract<AgentState, { readonly type: 'awaiting' | 'cancelling' }>;

export function newTurn(started_at: number): Turn {
  return { requests: 0, failing: [], grace: null, started_at };
}

/** No event leads out of these. */
export const TERMINAL: ReadonlySet<StateType> = new Set(['completed', 'failed', 'killed']);
/** A turn is in progress. */
export const WORKING: ReadonlySet<StateType> = new Set([
  'requesting',
  'executing',
  'awaiting',
  'cancelling',
  'waiting',
]);
/** Nothing is done until something reaches the agent. */
export const RESTING: ReadonlySet<StateType> = new Set(['idle', 'errored']);

export function isTerminal(type: StateType): boolean {
  return TERMINAL.has(type);
}

export function isWorking(type: StateType): boolean {
  return WORKING.has(type);
}

export function isResting(type: StateType): boolean {
  return RESTING.has(type);
}
