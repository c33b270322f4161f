import type { Effect } from './effect.ts';
import type { AgentEvent } from './event.ts';
import type { ResultContent } from './message.ts';
import type { AgentState, Call, Turn } from './state.ts';

export type Transition =
  | { readonly ok: true; readonly state: AgentState; readonly effects: readonly Effect[] }
  | { readonly ok: false; readonly invalid: InvalidTransition };

export interface InvalidTransition {
  readonly state: AgentState['type'];
  readonly event: AgentEvent['type'];
  readonly reason: string;
}

/** What the kernel must know of the agent beside its state. */
export interface TransitionContext {
  /** Its outcome goes to a parent that awaits it: it ends instead of idling (seeds 3 and 5). */
  readonly reports: boolean;
  /** It must call `submit_result` or `submit_error` to end well (seed 3). */
  readonly submits: boolean;
  /** Model requests of one turn. */
  readonly turns: number;
}

export type Of<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;

export type Executing = Extract<AgentState, { type: 'executing' }>;

export function step(state: AgentState, effects: readonly Effect[]): Transition {
  return { ok: true, state, effects };
}

export function invalid(state: AgentState, event: AgentEvent, reason: string): Transition {
  return { ok: false, invalid: { state: state.type, event: event.type, reason } };
}

export function userMessage(content: Of<'input'>['content']): Effect {
  return { type: 'append', message: { kind: 'user', content } };
}

export function systemMessage(text: string): Effect {
  return userMessage({ origin: 'system', text });
}

export function resultMessage(content: ResultContent): Effect {
  return { type: 'append', message: { kind: 'result', content } };
}

export function eventMessage(event: 'interrupted' | 'error' | 'retried' | 'limit', text: string): Effect {
  return { type: 'append', message: { kind: 'event', content: { event, text } } };
}

export function failedResult(call: Call, status: ResultContent['status'], output: string): Effect {
  return resultMessage({ call_id: call.id, name: call.name, status, output });
}

/** One result for every open call (law 5): what the event brought for it, else plainly cancelled. */
export function cancelOpen(state: Executing, open: readonly ResultContent[], output: string): Effect[] {
  const calls = [...state.running.map((running) => running.call), ...state.queued];
  return calls.map((call) => {
    const known = open.find((result) => result.call_id === call.id);
    return known === undefined ? failedResult(call, 'cancelled', output) : resultMessage(known);
  });
}

export function requesting(turn: Turn, attempt = 1): AgentState {
  return { type: 'requesting', attempt, turn };
}

export function request(attempt = 1): Effect[] {
  return [{ type: 'request-model', attempt }];
}
