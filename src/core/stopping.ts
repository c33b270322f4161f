import type { Effect } from './effect.ts';
import type { Failure } from './failure.ts';
import { outstanding } from './fan-in.ts';
import type { AgentState } from './state.ts';
import {
  cancelOpen,
  type Executing,
  eventMessage,
  failedResult,
  invalid,
  type Of,
  request,
  step,
  type Transition,
  type TransitionContext,
} from './transition-step.ts';
import { schedule } from './turn.ts';
import { endInFailure, lastRequest } from './turn-end.ts';

export function cancelled(state: AgentState, event: Of<'cancel'>, context: TransitionContext): Transition {
  const interrupted = eventMessage('interrupted', `interrupted by ${event.by}: ${event.reason}`);
  const failure: Failure = { kind: 'cancelled', error: event.reason, retryable: false };
  const stop = (effects: Effect[]): Transition =>
    context.reports ? endInFailure(failure, undefined, context, effects) : step({ type: 'idle' }, effects);
  switch (state.type) {
    case 'requesting':
      return stop([{ type: 'abort' }, interrupted]);
    case 'executing': {
      const effects: Effect[] = [
        { type: 'abort' },
        ...cancelOpen(state, event.open, `Cancelled: ${event.reason}`),
        interrupted,
      ];
      const pending = outstanding(state);
      if (pending.length === 0) return stop(effects);
      effects.push({ type: 'cancel-agents', agent_ids: pending, reason: event.reason });
      return step({ type: 'cancelling', pending, results: state.early, reason: event.reason }, effects);
    }
    case 'awaiting':
      return step(
        { type: 'cancelling', pending: state.pending, results: state.results, reason: event.reason },
        [interrupted, { type: 'cancel-agents', agent_ids: state.pending, reason: event.reason }],
      );
    default:
      if (context.reports && state.type !== 'cancelling') return stop([interrupted]);
      return invalid(
        state,
        event,
        state.type === 'cancelling' ? 'it is being cancelled already' : 'the agent is not at work',
      );
  }
}

export function limitReached(state: AgentState, event: Of<'limit'>, context: TransitionContext): Transition {
  if (state.type === 'requesting') {
    if (state.turn.grace) {
      const failure: Failure = { kind: 'timed_out', error: `limit reached: ${event.limit}`, retryable: true };
      return endInFailure(failure, undefined, context, [{ type: 'abort' }]);
    }
    return lastRequest(state.turn, event.limit, [{ type: 'abort' }], state.attempt + 1);
  }
  if (state.type !== 'executing') return invalid(state, event, 'no turn is running');
  const effects: Effect[] = [
    { type: 'abort' },
    ...cancelOpen(state, [], `Cancelled: limit reached: ${event.limit}`),
  ];
  const pending = outstanding(state);
  if (pending.length > 0)
    effects.push({ type: 'cancel-agents', agent_ids: pending, reason: `limit reached: ${event.limit}` });
  return lastRequest(state.turn, event.limit, effects);
}

export const INTERRUPTED =
  'Interrupted: the process that ran this call died. It may have happened in full, in part or not at all. Check before you repeat it.';

/** What a dead process left: ask again, wait on, run again what may be, report the rest as interrupted. */
export function resumed(state: AgentState, context: TransitionContext): Transition {
  if (state.type === 'requesting') {
    const attempt = state.attempt + 1;
    return step({ ...state, attempt }, request(attempt));
  }
  if (state.type !== 'executing') return step(state, []);
  const effects: Effect[] = [];
  let next: Executing = state;
  for (const { call, wait } of state.running) {
    if (wait !== undefined) effects.push({ type: 'start-timer', call_id: call.id, at: wait.deadline });
    else if (call.idempotent) effects.push({ type: 'run-call', call });
    else {
      effects.push(failedResult(call, 'interrupted', INTERRUPTED));
      next = {
        ...next,
        running: next.running.filter((one) => one.call.id !== call.id),
        results: [...next.results, call.id],
      };
    }
  }
  return next === state ? step(state, effects) : schedule(next, effects, context);
}
