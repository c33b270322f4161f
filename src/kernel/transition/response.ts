import { missingEvidence } from '../../records/agent/deeds-line.ts';
import type { Failure } from '../../records/agent/failure.ts';
import type { Call, Turn } from '../../records/agent/state.ts';
import { incompleteAnswer, marked, refusal } from '../../records/conversation/answer-ending.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import { appendAnswer, appendAssistant, appendSystem } from './append.ts';
import { countFailure, isRepeatedFailure, UNPROVED_MAX } from './breakers.ts';
import { schedule } from './calls.ts';
import type { EventOf } from './event.ts';
import { nextRequest } from './request.ts';
import type { Transition, TransitionContext } from './transition-result.ts';
import { endInFailure, endTurn, report, unprovedFailure } from './turn-end.ts';

/** Handles an answer of the model: runs its calls, ends the child, or ends the turn. */
export function answered(before: Turn, event: EventOf<'response'>, context: TransitionContext): Transition {
  const { calls, seq, submission, content, appendix } = event;
  const text = assistantText(content);
  const turn: Turn = { ...before, requests: before.requests + 1 };
  const said = appendAssistant(content);
  const declined = refusal(content);
  if (declined !== null) {
    const unrun = calls.map((call) => appendAnswer(call, 'error', `No call was run: ${declined.error}.`));
    return endInFailure(declined, [said, ...unrun], context, { appendix });
  }
  if (submission !== null && (context.reports || context.submits)) {
    const missing = submission.type === 'success' ? missingEvidence(context, turn.deeds) : [];
    if (missing.length > 0) return unproved(turn, event, missing, context);
    const taken = calls.map((call) => appendAnswer(call, 'ok', 'submitted'));
    const limit = turn.grace !== null && submission.type === 'success' ? { limit: turn.grace.error } : {};
    return report({ ...submission, ...limit }, [said, ...taken], appendix);
  }
  const whole = (before.unfinished ?? '') + text;
  if (turn.grace !== null) {
    const { error } = turn.grace;
    const refused = calls.map((call) => appendAnswer(call, 'error', `No call was run: ${error}.`));
    return endTurn(turn, marked(content, whole), [said, ...refused], context, appendix);
  }
  if (turn.late !== undefined && calls.length > 0) {
    const reason = `No call was run: ${turn.late.error}.`;
    return nextRequest(turn, [said, ...calls.map((call) => appendAnswer(call, 'error', reason))], context);
  }
  if (calls.length === 0) return stopped(turn, event, whole, context);
  const { unfinished: _, ...going } = turn;
  if (event.refusal !== undefined) return refused(going, event, event.refusal, context);
  return schedule(
    { type: 'executing', seq, running: [], queued: calls, results: [], spawned: [], early: [], turn: going },
    [said],
    context,
  );
}

/** Refuses a submission and says what is missing; after the last one, or where no tool runs any more, the child ends. */
function unproved(
  before: Turn,
  event: EventOf<'response'>,
  missing: readonly string[],
  context: TransitionContext,
): Transition {
  const turn = { ...before, unproved: (before.unproved ?? 0) + 1 };
  const failure = unprovedFailure(missing, turn.grace ?? turn.late);
  const ends = turn.unproved >= UNPROVED_MAX || turn.grace !== null || turn.late !== undefined;
  const order = ends
    ? failure.error
    : `${failure.error}. Make these calls after your last change of a file, then submit again.`;
  const answers = event.calls.map((call) => appendAnswer(call, 'error', order));
  const effects = [appendAssistant(event.content), ...answers];
  if (!ends) return nextRequest(turn, effects, context);
  const unfinished = event.submission?.type === 'success' ? event.submission.result : undefined;
  return endInFailure(failure, effects, context, { appendix: event.appendix, unfinished });
}

const ANNOUNCED = 'You announced a call and made none. Make it now; if you are done, ';
const UNREAD =
  'What you wrote as a call is text, and nothing was run. Make it as a call of a tool; if you are done, ';

/** Ends the turn, unless the first answer only announced calls, or the answer has calls that nobody can read, was cut off or empty: then the model is asked once more, and a second such answer is a failure. */
function stopped(
  turn: Turn,
  event: EventOf<'response'>,
  whole: string,
  context: TransitionContext,
): Transition {
  const said = [appendAssistant(event.content)];
  const is_new = turn.unfinished === undefined;
  const is_unread = event.unread && is_new;
  if (is_unread || (event.announced && (turn.requests === 1 || (context.submits && is_new)))) {
    const order =
      (is_unread ? UNREAD : ANNOUNCED) +
      (context.submits ? 'call submit_result with your whole result.' : 'say so.');
    return nextRequest({ ...turn, unfinished: `${whole}\n\n` }, [...said, appendSystem(order)], context);
  }
  // A child that must submit is reminded instead; one that has written to its parent may end without a word.
  const is_silent = context.submits || (whole.trim() === '' && context.has_reported?.() === true);
  const short =
    is_silent && event.content.finish !== 'length' ? null : incompleteAnswer(event.content, whole);
  if (short === null) return endTurn(turn, whole, said, context, event.appendix);
  if (turn.unfinished === undefined)
    return nextRequest({ ...turn, unfinished: whole }, [...said, appendSystem(short.order)], context);
  return endInFailure(short.failure, said, context, { appendix: event.appendix, continues: true });
}

/** Runs no call of the message so that the model can correct it; repeating the mistake ends the turn like any repeated failure. */
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
  return endInFailure(failure, effects, context, { appendix: event.appendix });
}
