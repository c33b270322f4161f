import type { Effect } from './effect.ts';
import type { Failure } from './failure.ts';
import { fanIn, outstanding } from './fan-in.ts';
import type { ResultContent } from './message.ts';
import type { Call, RunningCall, Turn } from './state.ts';
import {
  cancelOpen,
  type Executing,
  failedResult,
  invalid,
  type Of,
  request,
  requesting,
  resultMessage,
  step,
  systemMessage,
  type Transition,
  type TransitionContext,
} from './transition-step.ts';
import { endInFailure, nextRequest } from './turn-end.ts';

/** In this many requests in a row the same call may fail in the same way before the turn ends. */
export const MAX_IDENTICAL_FAILURES = 3;

/** The model answered: run its calls, end the child, or end the turn. */
export function answered(before: Turn, event: Of<'response'>, context: TransitionContext): Transition {
  const turn = { ...before, requests: before.requests + 1 };
  const effects: Effect[] = [{ type: 'append', message: { kind: 'assistant', content: event.content } }];
  if (event.submission !== null) {
    const outcome = event.submission;
    effects.push(
      ...event.calls.map((call) =>
        resultMessage({ call_id: call.id, name: call.name, status: 'ok', output: 'submitted' }),
      ),
      { type: 'notify-parent', outcome },
    );
    if (outcome.type === 'success') return step({ type: 'completed', result: outcome.result }, effects);
    return step(
      { type: 'failed', failure: { kind: outcome.error_kind, error: outcome.error, retryable: false } },
      effects,
    );
  }
  if (event.calls.length > 0 && turn.grace) {
    effects.push(
      ...event.calls.map((call) => failedResult(call, 'error', 'The limit was reached: no call was run.')),
    );
    return endTurn(turn, textOf(event), context, effects);
  }
  if (event.calls.length === 0) return endTurn(turn, textOf(event), context, effects);
  const executing: Executing = {
    type: 'executing',
    seq: event.seq,
    running: [],
    queued: event.calls,
    results: [],
    spawned: [],
    early: [],
    turn,
  };
  return schedule(executing, effects, context);
}

function textOf(event: Of<'response'>): string {
  return event.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** The model stopped asking for tools. */
function endTurn(turn: Turn, text: string, context: TransitionContext, effects: Effect[]): Transition {
  if (!context.reports) return step({ type: 'idle' }, effects);
  if (!context.submits && !turn.grace) {
    return step({ type: 'completed', result: text }, [
      ...effects,
      { type: 'notify-parent', outcome: { type: 'success', result: text } },
    ]);
  }
  if (context.submits && !turn.nudged && !turn.grace) {
    const nudged = { ...turn, nudged: true };
    return step(requesting(nudged), [
      ...effects,
      systemMessage(
        'You stopped without a result. Call submit_result with your result, or submit_error if the task cannot be done.',
      ),
      ...request(),
    ]);
  }
  const failure: Failure = turn.grace
    ? { kind: 'limit', error: 'a limit was reached before the task was done', retryable: false }
    : { kind: 'no_result', error: 'stopped twice without submitting a result', retryable: false };
  return endInFailure(failure, text, context, effects);
}

/** Starts queued calls in order: alone, or beside others where all of them allow it; when none is left, goes on. */
export function schedule(state: Executing, effects: Effect[], context: TransitionContext): Transition {
  const running: RunningCall[] = [...state.running];
  let next = 0;
  while (next < state.queued.length) {
    const call = state.queued[next] as Call;
    const beside = call.side_by_side && running.every((other) => other.call.side_by_side);
    if (running.length > 0 && !beside) break;
    running.push({ call });
    effects.push({ type: 'run-call', call });
    next += 1;
  }
  if (running.length > 0) return step({ ...state, running, queued: state.queued.slice(next) }, effects);
  if (state.spawned.length > 0) return fanIn(state, effects, context);
  return nextRequest(state.turn, effects, context);
}

export function settled(state: Executing, event: Of<'call-settled'>, context: TransitionContext): Transition {
  const settledCall = state.running.find((running) => running.call.id === event.result.call_id)?.call;
  if (settledCall === undefined) return invalid(state, event, `call ${event.result.call_id} is not running`);
  const effects: Effect[] = [...event.consequences, resultMessage(event.result)];
  const turn = { ...state.turn, failing: failing(state.turn, settledCall, event.result) };
  const next: Executing = {
    ...state,
    turn,
    running: state.running.filter((running) => running.call.id !== settledCall.id),
    results: [...state.results, settledCall.id],
    spawned: [...state.spawned, ...event.spawned],
  };
  if (turn.failing !== null && turn.failing.times >= MAX_IDENTICAL_FAILURES)
    return breakTurn(next, effects, event.result, context);
  return schedule(next, effects, context);
}

function failing(turn: Turn, call: Call, result: ResultContent): Turn['failing'] {
  if (result.status !== 'error') return turn.failing?.request === turn.requests ? turn.failing : null;
  const signature = `${call.name}\n${call.input}\n${result.output}`;
  if (turn.failing?.signature !== signature) return { signature, times: 1, request: turn.requests };
  if (turn.failing.request === turn.requests) return turn.failing;
  return { signature, times: turn.failing.times + 1, request: turn.requests };
}

/** The same call failed again and again: answer what is open (law 5) and stop asking the model. */
function breakTurn(
  state: Executing,
  effects: Effect[],
  last: ResultContent,
  context: TransitionContext,
): Transition {
  effects.push(
    { type: 'abort' },
    ...cancelOpen(state, [], 'The turn ended: the same call failed again and again.'),
  );
  const failure: Failure = {
    kind: 'repeated_failure',
    error: `${last.name} failed ${MAX_IDENTICAL_FAILURES} times in the same way: ${last.output.slice(0, 300)}`,
    retryable: true,
  };
  if (state.spawned.length > 0)
    effects.push({ type: 'cancel-agents', agent_ids: outstanding(state), reason: 'the parent failed' });
  return endInFailure(failure, undefined, context, effects);
}

export function parked(state: Executing, event: Of<'call-parked'>): Transition {
  if (!state.running.some((running) => running.call.id === event.call_id)) {
    return invalid(state, event, `call ${event.call_id} is not running`);
  }
  const running = state.running.map((one) =>
    one.call.id === event.call_id ? { ...one, wait: event.wait } : one,
  );
  return step({ ...state, running }, [
    { type: 'start-timer', call_id: event.call_id, at: event.wait.deadline },
  ]);
}
