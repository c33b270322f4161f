import type { AgentState } from '../../records/agent/state.ts';
import type { Effect } from './effect.ts';
import type { AgentEvent } from './event.ts';

/** What an event does to an agent; an event that its state does not admit changes nothing. */
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
