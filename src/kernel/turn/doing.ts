import type { AgentState, Call, Held, RunningCall } from '../../records/agent/state.ts';
import { isAsked } from '../../records/conversation/parked.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { counted } from '../../records/text/text.ts';
import type { Arguments, View } from './view.ts';

const MAX_LENGTH = 80;

/** What an agent does right now, in one line for people; null when it does nothing. */
export function doing(state: AgentState, argumentsOf: View['argumentsOf']): string | null {
  switch (state.type) {
    case 'requesting':
      if (state.asked?.[0] !== undefined)
        return oneLine(`asks: ${state.asked[0].tool} ${state.asked[0].subject}`);
      if (state.paused !== undefined) return oneLine(`waits for ${state.paused.text}`);
      if (state.held != null) return oneLine(heldText(state.held));
      return state.compacting === undefined ? 'thinking' : 'summarising its conversation';
    case 'executing': {
      // Waiting for a person comes first.
      const first = state.running.find(waitsForPerson) ?? state.running[0];
      if (first === undefined) return null;
      const others = state.running.length - 1;
      return `${describeRunningCall(first, argumentsOf)}${others > 0 ? ` +${others}` : ''}`;
    }
    case 'awaiting':
      return `awaiting ${counted(state.pending.length, 'agent')}`;
    case 'cancelling':
      return `cancelling ${counted(state.pending.length, 'agent')}`;
    case 'errored':
      return oneLine(state.failure.error);
    default:
      return null;
  }
}

/** Kept until the request is sent: a time instead of the seconds that were left when it began. */
function heldText({ text, until }: Held): string {
  return until === null
    ? text
    : text.replace(/: \d+ s\b/, ` until ${new Date(until).toTimeString().slice(0, 8)}`);
}

function waitsForPerson(one: RunningCall): boolean {
  return isAsked(one) || one.questions !== undefined;
}

function describeRunningCall(one: RunningCall, argumentsOf: View['argumentsOf']): string {
  const { call, wait } = one;
  if (isAsked(one)) return oneLine(`asks: ${subjectOf(call, argumentsOf(call))}`);
  const [question] = one.questions ?? [];
  if (question !== undefined) return oneLine(`asks: ${question.tool} ${question.subject}`);
  if (wait !== undefined)
    return wait.from === null ? 'wait for a message' : `wait ${counted(wait.from.length, 'agent')}`;
  return subjectOf(call, argumentsOf(call));
}

function subjectOf(call: Call, parsed: Arguments): string {
  if (!parsed.ok || typeof parsed.input !== 'object' || parsed.input === null) return call.name;
  const subject = Object.values(parsed.input).find((value) => typeof value === 'string');
  return subject === undefined ? call.name : oneLine(`${call.name} ${subject}`);
}

function oneLine(text: string): string {
  const line = text
    .slice(0, MAX_LENGTH * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  // Cutting may split a surrogate pair; the ledger stores only well-formed text.
  return cutText(line, MAX_LENGTH, '…').toWellFormed().replaceAll('\0', '');
}
