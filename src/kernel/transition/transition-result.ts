import type { AgentState } from '../../records/agent/state.ts';
import type { Effect } from './effect.ts';
import type { AgentEvent } from './event.ts';

/** What an event does to an agent. An event that is invalid in its state changes nothing. */
export type Transition =
  | { readonly ok: true; readonly state: AgentState; readonly effects: readonly Effect[] }
  | { readonly ok: false; readonly invalid: InvalidTransition };

export interface InvalidTransition {
  readonly state: AgentState['type'];
  readonly event: AgentEvent['type'];
  readonly reason: string;
}

export function step(state: AgentState, effects: readonly Effect[]): Transition {
  return { ok: true, state, effects };
}

export function invalid(state: AgentState, event: AgentEvent, reason: string): Transition {
  return { ok: false, invalid: { state: state.type, event: event.type, reason } };
}

/** What a transition needs to know about the agent besides its state. */
export interface TransitionContext {
  /** Whether the agent ends with an outcome after its one task, instead of idling. */
  readonly reports: boolean;
  /** Whether it must end with `submit_result` or `submit_error`. Without `reports`, a failure leaves it resting, for a person to retry. */
  readonly submits: boolean;
  /** Whether a result counts only if submitted, because that is when it is validated. */
  readonly checked?: boolean;
  /** The evidence that the agent's profile requires; a result without it is refused. */
  readonly require?: readonly string[];
  /** Maximum model requests of one turn. */
  readonly turns: number;
  /** Set if the last request, without tools, is one of `turns`. */
  readonly last_counts?: boolean;
  /** All assistant text of the run of an agent with `reports`; read from its conversation only at the end. Absent: none. */
  readonly said?: () => string;
  /** Whether an agent with `reports` rests at the end of its turn, because agents that it forked will report to it. Absent: it does not. */
  readonly owed?: () => boolean;
  /** Whether its parent has a message of this turn, which its last words need not repeat. Absent: it has none. */
  readonly has_reported?: () => boolean;
  /** What a running call has printed so far, for its result if it is stopped. Absent, or empty: nothing that is known. */
  readonly printed?: (call_id: string) => string;
  /** Where its unreported work is (such as a worktree); added to a failure. */
  readonly leaves?: string;
}
