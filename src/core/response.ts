import { appendAnswer, appendAssistant } from './append.ts';
import { schedule } from './calls.ts';
import type { EventOf } from './event.ts';
import type { Failure } from './failure.ts';
import { countFailure, isRepeatedFailure } from './repeated-failure.ts';
import { nextRequest } from './request.ts';
import type { Call, Turn } from './state.ts';
import type { TransitionContext } from './transition-context.ts';
import type { Transition } from './transition-result.ts';
import { endInFailure, endTurn, report } from './turn-end.ts';

/** The model answered: run its calls, end the child, or end the turn. */
export function answered(before: Turn, event: EventOf<'response'>, context: TransitionContext): Transition {
  const { calls, seq, submission } = event;
  const text = textOf(event);
  const last_text = context.reports && text !== '' ? text : before.last_text;
  const turn: Turn = { ...before, requests: before.requests + 1, last_text };
  const said = appendAssistant(event.content);
  if (submission !== null && context.reports) {
    const taken = calls.map((call) => appendAnswer(call, 'ok', 'submitted'));
    return report(submission, [said, ...taken], event.appendix);
  }
  if (turn.grace !== null) {
    const { error } = turn.grace;
    const refused = calls.map((call) => appendAnswer(call, 'error', `No call was run: ${error}.`));
    return endTurn(turn, text, [said, ...refused], context, event.appendix);
  }
  if (calls.length === 0) return endTurn(turn, text, [said], context, event.appendix);
  if (event.refusal !== undefined) return refused(turn, event, event.refusal, context);
  return schedule(
    { type: 'executing', seq, running: [], queued: calls, results: [], spawned: [], early: [], turn },
    [said],
    context,
  );
}

/** No call of the message is run, and the model may mend it: the same mistake again and again ends the turn, as any other. */
function refused(
  before: Turn,
  event: EventOf<'response'>,
  error: string,
  context: TransitionContext,
): Transition {
  const answers = event.calls.map((call) => appendAnswer(call, 'error', error));
  const [first] = event.calls as [Call];
  const result = { call_id: first.id, name: first.name, status: 'error' as const, output: error };
  const turn = { ...before, failing: countFailure(before, first, result) };
  const effects = [appendAssistant(event.content), ...answers];
  if (!isRepeatedFailure(turn)) return nextRequest(turn, effects, context);
  const failure: Failure = { kind: 'repeated_failure', error, retryable: true };
  return endInFailure(failure, turn.last_text, effects, context, event.appendix);
}

function textOf(event: EventOf<'response'>): string {
  return event.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}
