import type { Deeds } from './deeds.ts';
import type { Failure, Pause } from './failure.ts';

/** One tool call of the current turn. The tool's properties that scheduling needs are copied onto it when the answer arrives. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** Raw JSON text, as it was read (docs/tool-calls.md). */
  readonly input: string;
  /** What the model is told with the result of how its call was read. */
  readonly note?: string;
  /** Whether it may run in parallel with other such calls of the same message. */
  readonly side_by_side: boolean;
  /** Whether it is repeated after a crash; other calls become `interrupted`. */
  readonly idempotent: boolean;
}

/** The condition that a parked `wait` call waits for (docs/vocabularies.md). */
export interface WaitSpec {
  /** Null: the next message from anyone. Otherwise a fan-in: every listed agent, in argument order. */
  readonly from: readonly string[] | null;
  /** Set if a workflow waits: also the end of a background run ends it, and what has arrived is returned as data. */
  readonly runs?: true;
  /** Milliseconds since the epoch, for people. Absent for a person's wait, which begins with its state, and in waits of older versions. */
  readonly started_at?: number;
  /** When the wait times out and returns what has arrived by then; milliseconds since the epoch. */
  readonly deadline: number;
}

/** A call in flight. With `wait`, `child` or an unanswered `ask` it is parked in the ledger instead of running in a process. */
export interface RunningCall {
  readonly call: Call;
  readonly wait?: WaitSpec;
  /** The child whose outcome will be its result (delegation). */
  readonly child?: string;
  /** The approval that the call needs before it runs; the turn's clock is stopped since `at`. */
  readonly ask?: { readonly id: string; readonly at: number };
  /** Whether a person has approved the call; if so, it runs. */
  readonly approved?: boolean;
  /** Questions that the call asks a person while it runs; never empty. The turn's clock is stopped meanwhile. */
  readonly questions?: readonly OpenQuestion[];
}

/** An open question that blocks a request or a running call. */
export interface OpenQuestion {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly subject: string;
}

/** Ways in which a result falls short of what was asked for. */
export interface Reservations {
  /** The limit that ended the child early; the result is what it had by then. */
  readonly limit?: string;
  /** Set if the child answered in plain text instead of submitting. */
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
  /** Summary of what the child actually did (`deedsLine`). */
  readonly did?: string;
}

/** A child whose result the turn must await. */
export interface SpawnedChild {
  readonly agent_id: string;
  /** Name of the child, shown next to its result. */
  readonly task: string;
}

/** A call that failed in the newest request or the one before it. */
export interface FailingCall {
  /** Fingerprint of name, input and error. */
  readonly signature: string;
  /** Number of consecutive requests in which it failed this way. */
  readonly times: number;
  /** The latest of these requests, numbered as `Turn.requests`. */
  readonly request: number;
}

/** Evidence that calls of this turn kill the process that runs them. */
export interface DeadlyCalls {
  /** The ledger's death count that is already included here. */
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
  /** Set if the limit was reached during a request: that answer counts, but none of its calls run. */
  readonly late?: Failure;
  /** Set once a child that must submit has been reminded: the text that it answered instead. */
  readonly reminded?: string;
  /** Set if the newest answer was cut off or empty and the model was asked to continue: the text so far. */
  readonly unfinished?: string;
  /** Ids of questions whose answers granted a rule until the turn ends. */
  readonly granted?: readonly string[];
  /** Deeds of the turn so far; absent: none. */
  readonly deeds?: Deeds;
  /** Number of submissions without the evidence that the profile requires. */
  readonly unproved?: number;
  /** Milliseconds since the epoch; moved forward by the time that the clock was stopped. */
  readonly started_at: number;
  /** When the turn really began, if `started_at` was moved. */
  readonly began_at?: number;
}

export interface Held {
  readonly text: string;
  /** Milliseconds since the epoch; null: until another request ends. */
  readonly until: number | null;
  /** Since when a person is asked on whose answer it depends: the turn's clock is stopped. */
  readonly asked_at?: number;
}

export interface Compacting {
  /** What the person wants the summary to keep; may be empty. */
  readonly note: string;
  /** Set if only a summary was asked for: the resting state before it, restored afterwards even if the summary fails. */
  readonly rest?: Resting;
}

/**
 * The state of one agent. `completed`, `failed` and `killed` are terminal: no event leads out of them (law 3,
 * docs/ledger.md).
 */
export type AgentState =
  /** `limit`: the limit that ended the newest turn early. `stopped_by`: who interrupted it. */
  | ({ readonly type: 'idle'; readonly limit?: string; readonly stopped_by?: string } & AfterTurn)
  /** The person made this agent wait for mail (`/wait`). `rest`: the state to which it returns, if that is more than `idle`. */
  | ({
      readonly type: 'waiting';
      readonly wait: WaitSpec;
      readonly since: number;
      readonly rest?: Resting;
    } & AfterTurn)
  | {
      readonly type: 'requesting';
      readonly attempt: number;
      readonly turn: Turn;
      /** Set if the model is first asked for a summary of the older part (docs/context.md). */
      readonly compacting?: Compacting;
      /** What keeps it from being sent, for a second or more. */
      readonly held?: Held | null;
      /** Set while the provider takes no requests. */
      readonly paused?: Pause;
      /** The answer, which a person has written in place of the model's; the model is not asked. */
      readonly given?: string;
      /** Questions to a person from the agent program that serves as the model; never empty. The turn's clock is stopped meanwhile. */
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
  | ({ readonly type: 'awaiting' } & Gathering)
  /** `by`: who cancels it; absent in rows of older versions. */
  | ({ readonly type: 'cancelling'; readonly reason: string; readonly by?: string } & Gathering)
  | ({ readonly type: 'errored'; readonly failure: Failure } & AfterTurn)
  | ({ readonly type: 'completed'; readonly result: string } & Reservations & AfterTurn)
  | ({ readonly type: 'failed'; readonly failure: Failure; readonly partial?: string } & AfterTurn)
  /** `failure`: of its newest turn, before it was killed. */
  | ({ readonly type: 'killed'; readonly by: string; readonly failure?: Failure } & AfterTurn);

interface Gathering {
  readonly pending: readonly string[];
  readonly results: readonly ChildResult[];
  readonly spawned: readonly SpawnedChild[];
  readonly turn: Turn;
}

interface AfterTurn {
  /** Deeds of the newest turn. */
  readonly deeds?: Deeds;
}

export type StateType = AgentState['type'];
export type Executing = Extract<AgentState, { readonly type: 'executing' }>;
export type Resting = Extract<AgentState, { readonly type: 'idle' | 'errored' }>;
export type Waiting = Extract<AgentState, { readonly type: 'waiting' }>;
export type Killed = Extract<AgentState, { readonly type: 'killed' }>;
export type FanIn = Extract<AgentState, { readonly type: 'awaiting' | 'cancelling' }>;

/** The state after a kill, with the deeds of the newest turn. */
export function killedState(before: AgentState | null, by: string, at: number): Killed {
  if (before === null) return { type: 'killed', by };
  // A request for only a summary does not count as a turn.
  const last = restAfterSummary(before) ?? before;
  const took_ms = 'turn' in last ? Math.max(0, at - last.turn.started_at) : 0;
  const deeds = 'turn' in last ? { ...last.turn.deeds, took_ms } : last.deeds;
  const failure = before.type === 'errored' ? { failure: before.failure } : {};
  return { type: 'killed', by, ...failure, ...(deeds === undefined ? {} : { deeds }) };
}

export function newTurn(started_at: number): Turn {
  return { requests: 0, failing: [], grace: null, started_at };
}

/** States that no event leads out of. */
export const TERMINAL: ReadonlySet<StateType> = new Set(['completed', 'failed', 'killed']);
/** States in which a turn or a person's wait is in progress. */
export const WORKING: ReadonlySet<StateType> = new Set([
  'requesting',
  'executing',
  'awaiting',
  'cancelling',
  'waiting',
]);
/** States in which nothing happens until mail or a person reaches the agent. */
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

/** The open waits of an agent, its own or a person's. */
export function waitsOf(state: AgentState): readonly WaitSpec[] {
  if (state.type === 'waiting') return [state.wait];
  return state.type === 'executing' ? state.running.flatMap(({ wait }) => wait ?? []) : [];
}

/** Whether the agent does nothing but wait: it goes on when one of its waits ends. */
export function onlyWaits(state: AgentState): boolean {
  const open = waitsOf(state).length;
  return open > 0 && (state.type !== 'executing' || state.running.length === open);
}

/** Whether the agent does nothing but wait, for whoever writes next. */
export function awaitsAnyone(state: AgentState): boolean {
  return onlyWaits(state) && waitsOf(state).some(({ from }) => !from?.length);
}

/** The resting state to which an agent returns that only summarises its conversation; null for any other agent. */
export function restAfterSummary(state: AgentState): Resting | null {
  return state.type === 'requesting' ? (state.compacting?.rest ?? null) : null;
}

/** Whether the agent waits for the outcomes of its children. */
export function isFanIn(state: AgentState): state is FanIn {
  return state.type === 'awaiting' || state.type === 'cancelling';
}

/** As `failureOf`, but also for a turn that somebody interrupted. */
export function interruptionOf(state: AgentState): Failure | null {
  if (state.type !== 'idle' || state.stopped_by === undefined) return failureOf(state);
  return { kind: 'interrupted', error: `interrupted by ${state.stopped_by}`, retryable: true };
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

/** Whether a person has allowed exactly this call. */
export function isApproved(state: AgentState, call_id: string): boolean {
  return state.type === 'executing' && state.running.some((one) => one.call.id === call_id && one.approved);
}
