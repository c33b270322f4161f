import type { Deeds } from './deeds.ts';
import type { Failure } from './failure.ts';

/** One tool call of the current turn. The tool's properties that scheduling needs are copied onto it when the answer arrives. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** Raw JSON text as the model wrote it. */
  readonly input: string;
  /** May run in parallel with other such calls of the same message. */
  readonly side_by_side: boolean;
  /** Safe to run again after a crash; all others become `interrupted`. */
  readonly idempotent: boolean;
}

/** What a parked `wait` call waits for (docs/vocabularies.md). */
export interface WaitSpec {
  /** Null: the next message from anyone. Otherwise a fan-in: every listed agent, in argument order. */
  readonly from: readonly string[] | null;
  /** When it ends with what has arrived by then, milliseconds since the epoch. */
  readonly deadline: number;
}

/** A call in flight. With `wait`, `child` or an unanswered `ask` it is parked in the ledger instead of running in a process. */
export interface RunningCall {
  readonly call: Call;
  readonly wait?: WaitSpec;
  /** The child whose outcome will be its result (delegation). */
  readonly child?: string;
  /** The approval it needs before it runs, and since when the turn's clock is stopped for it. */
  readonly ask?: { readonly id: string; readonly at: number };
  /** A person approved it: it runs. */
  readonly approved?: boolean;
  /** What it asks a person while it runs; never empty. The turn's clock is stopped for it. */
  readonly questions?: readonly OpenQuestion[];
}

/** An open question without which a request, or a call that runs, does not go on. */
export interface OpenQuestion {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly subject: string;
}

/** In what way a result falls short of what was asked for. */
export interface Reservations {
  /** The limit that ended the child; the result is what it had by then. */
  readonly limit?: string;
  /** It answered in plain text instead of submitting. */
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
  /** What it really did (`deedsLine`). */
  readonly did?: string;
}

/** A child whose result the turn must await. */
export interface SpawnedChild {
  readonly agent_id: string;
  /** Its task, shown next to its result. */
  readonly task: string;
}

/** A call that failed in the newest request or the one before it. */
export interface FailingCall {
  /** Fingerprint of name, input and error. */
  readonly signature: string;
  /** In how many consecutive requests it failed this way. */
  readonly times: number;
  /** The latest of these requests, numbered as `Turn.requests`. */
  readonly request: number;
}

/** Evidence that calls of this turn kill the process that runs them. */
export interface DeadlyCalls {
  /** How much of the ledger's death count is included here. */
  readonly deaths: number;
  /** Consecutive deaths without a settled call in between. */
  readonly in_a_row: number;
  /** Deaths per call, by fingerprint of its name and input. */
  readonly calls: readonly { readonly signature: string; readonly times: number }[];
}

/** The counters of one turn, for limits and the repeated-failure breaker. */
export interface Turn {
  /** Model requests answered in this turn. */
  readonly requests: number;
  readonly failing: readonly FailingCall[];
  /** Absent if no process has died in this turn. */
  readonly deadly?: DeadlyCalls;
  /** The limit that was reached: one last answer without tools follows; if it is empty, the turn ends with this failure. */
  readonly grace: Failure | null;
  /** The time for the last answer came during a request: its answer counts, but none of its calls run. */
  readonly late?: Failure;
  /** A child that must submit has been reminded once: what it had answered instead. */
  readonly reminded?: string;
  /** The newest answer was cut off or empty and the model was asked again: its text so far. */
  readonly unfinished?: string;
  /** Questions whose answers granted a rule until the turn ends. */
  readonly granted?: readonly string[];
  /** What it did so far; absent: nothing. */
  readonly deeds?: Deeds;
  /** How often it submitted a result without the evidence that its profile requires. */
  readonly unproved?: number;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
}

export interface Compacting {
  /** What a person wants to be kept; may be empty. */
  readonly note: string;
  /** Nothing else was asked: how the agent rested before, and rests again afterwards, whatever becomes of the summary. */
  readonly rest?: Resting;
}

/**
 * The state of one agent. `completed`, `failed` and `killed` are terminal: no event leads out of them (law 3,
 * docs/ledger.md).
 */
export type AgentState =
  /** `limit`: what ended its newest turn early. */
  | ({ readonly type: 'idle'; readonly limit?: string } & AfterTurn)
  /** A person waits for mail in this agent (`/wait`). */
  | ({ readonly type: 'waiting'; readonly wait: WaitSpec; readonly since: number } & AfterTurn)
  | {
      readonly type: 'requesting';
      readonly attempt: number;
      readonly turn: Turn;
      /** The model is asked for a summary of the older part first (docs/context.md). */
      readonly compacting?: Compacting;
      /** What the agent program that is the model asks a person; never empty. The turn's clock is stopped for it. */
      readonly asked?: readonly OpenQuestion[];
    }
  | {
      readonly type: 'executing';
      /** Seq of the assistant message with these calls: the fork point of its forks. */
      readonly seq: number;
      readonly running: readonly RunningCall[];
      readonly queued: readonly Call[];
      /** Ids of settled calls in settling order; their results are messages. */
      readonly results: readonly string[];
      /** Children whose results this turn must await, in creation order. */
      readonly spawned: readonly SpawnedChild[];
      /** Results of these children that arrived before the turn was ready for them. */
      readonly early: readonly ChildResult[];
      readonly turn: Turn;
    }
  /** Fan-in: every child of `spawned` is in `pending` or in `results`. */
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
  | ({ readonly type: 'errored'; readonly failure: Failure } & AfterTurn)
  | ({ readonly type: 'completed'; readonly result: string } & Reservations & AfterTurn)
  | ({ readonly type: 'failed'; readonly failure: Failure; readonly partial?: string } & AfterTurn)
  | ({ readonly type: 'killed'; readonly by: string } & AfterTurn);

interface AfterTurn {
  /** What its newest turn did. */
  readonly deeds?: Deeds;
}

export type StateType = AgentState['type'];
export type Executing = Extract<AgentState, { readonly type: 'executing' }>;
export type Resting = Extract<AgentState, { readonly type: 'idle' | 'errored' }>;
export type Killed = Extract<AgentState, { readonly type: 'killed' }>;
export type FanIn = Extract<AgentState, { readonly type: 'awaiting' | 'cancelling' }>;

/** After a kill: what it did in its newest turn is kept. */
export function killedState(before: AgentState | null, by: string, at: number): Killed {
  if (before === null) return { type: 'killed', by };
  // A summary alone is no turn.
  const last = restOf(before) ?? before;
  const took_ms = 'turn' in last ? Math.max(0, at - last.turn.started_at) : 0;
  const deeds = 'turn' in last ? { ...last.turn.deeds, took_ms } : last.deeds;
  return { type: 'killed', by, ...(deeds === undefined ? {} : { deeds }) };
}

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
/** Nothing happens until mail or a person reaches the agent. */
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

/** How an agent rests that does nothing but summarise its conversation; null for any other. */
export function restOf(state: AgentState): Resting | null {
  return state.type === 'requesting' ? (state.compacting?.rest ?? null) : null;
}

/** The agent waits for the outcomes of its children. */
export function isFanIn(state: AgentState): state is FanIn {
  return state.type === 'awaiting' || state.type === 'cancelling';
}

/** Why the agent's last turn failed or who killed it; null otherwise. */
export function failureOf(state: AgentState): Failure | null {
  switch (state.type) {
    case 'errored':
    case 'failed':
      return state.failure;
    case 'killed':
      return { kind: 'killed', error: `killed by ${state.by}`, retryable: false };
    default:
      return null;
  }
}
