import { appendAnswer, appendAssistant } from './append.ts';
import { schedule } from './calls.ts';
import type { EventOf } from './event.ts';
import type { Turn } from './state.ts';
import type { TransitionContext } from './transition-context.ts';
import type { Transition } from './transition-result.ts';
import { endTurn, report } from './turn-end.ts';

/** The model answered: run its calls, end the child, or end the turn. */
export function answered(before: Turn, event: EventOf<'response'>, context: TransitionContext): Transition {
  const { calls, seq, submission } = event;
  const text = textOf(event);
  const last_text = context.reports && text !== '' ? text : before.last_text;
  const turn: Turn = { ...before, requests: before.requests + 1, last_text };
  const said = appendAssistant(event.content);
  if (submission !== null && context.reports) {
    const taken = calls.map((call) => appendAnswer(call, 'ok', 'submitted'));
    return report(submission, [said, ...taken]);
  }
  if (turn.grace !== null) {
    const { error } = turn.grace;
    const refused = calls.map((call) => appendAnswer(call, 'error', `No call was run: ${error}.`));
    return endTurn(turn, text, [said, ...refused], context);
  }
  if (calls.length === 0) return endTurn(turn, text, [said], context);
  return schedule(
    { type: 'executing', seq, running: [], queued: calls, results: [], spawned: [], early: [], turn },
    [said],
    context,
  );
}

function textOf(event: EventOf<'response'>): string {
  return event.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}
