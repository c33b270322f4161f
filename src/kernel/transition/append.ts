import type { Call, WaitSpec } from '../../records/agent/state.ts';
import type {
  AssistantContent,
  EventContent,
  ResultContent,
  UserContent,
} from '../../records/conversation/message.ts';
import type { Effect } from './effect.ts';

export function appendUser(content: UserContent): Effect {
  return { type: 'append', message: { kind: 'user', content } };
}

/** Text from the runtime to the model. */
export function appendSystem(text: string): Effect {
  return appendUser({ origin: 'system', text });
}

export function appendAssistant(content: AssistantContent): Effect {
  return { type: 'append', message: { kind: 'assistant', content } };
}

export function appendResult(content: ResultContent): Effect {
  return { type: 'append', message: { kind: 'result', content } };
}

/** The result of a call that did not run to completion. */
export function appendAnswer(call: Call, status: ResultContent['status'], output: string): Effect {
  return appendResult({ call_id: call.id, name: call.name, status, output });
}

/** For people only; never sent to a model. */
export function appendEvent(event: EventContent['event'], text: string, data?: EventContent['data']): Effect {
  const content = data === undefined ? { event, text } : { event, text, data };
  return { type: 'append', message: { kind: 'event', content } };
}

/** The timer of a wait, which rings at its deadline. */
export function startTimer(call_id: string, { deadline }: WaitSpec): Effect {
  return { type: 'start-timer', call_id, at: deadline };
}
