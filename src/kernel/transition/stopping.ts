import type { Failure } from '../../records/agent/failure.ts';
import { type AgentState, type Executing, isFanIn, type Turn } from '../../records/agent/state.ts';
import { interruptedAnswer } from '../../records/conversation/answer-ending.ts';
import { appendAssistant, appendEvent } from './append.ts';
import { stopCalls } from './calls.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import { cancelChildren, leaveFanIn, outstanding } from './fan-in.ts';
import { lastRequest } from './request.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';
import { endInFailure, endStopped } from './turn-end.ts';

/** A person or the parent stops the turn. Awaited children are asked to stop, and the turn ends after they have. */
export function cancelled(
  state: AgentState,
  event: EventOf<'cancel'>,
  context: TransitionContext,
): Transition {
  const { reason } = event;
  const interrupted = appendEvent('interrupted', `interrupted by ${event.by}: ${reason}`);
  switch (state.type) {
    case 'requesting': {
      return endStopped(event, [{ type: 'abort' }, ...saidSoFar(event), interrupted], context);
    }
    case 'executing':
      return cancelledCalls(state, event, interrupted, context);
    case 'awaiting':
      return step({ ...state, type: 'cancelling', reason, by: event.by }, [
        interrupted,
        ...cancelChildren(state.pending, reason),
      ]);
    case 'cancelling':
      return invalid(state, event, 'it is being cancelled already');
    case 'waiting':
      return step(state.rest ?? { type: 'idle' }, [
        appendEvent('waited', event.open[0]?.output ?? '{"status":"interrupted"}', {
          ...(event.open[0]?.facts?.waited ?? { rows: [], cut: 'interrupted' }),
        }),
      ]);
    default:
      // A sub-agent reports even if it rests: its parent awaits an outcome.
      if (context.reports) return endStopped(event, [interrupted], context);
      return invalid(state, event, 'the agent is not at work');
  }
}

/** Effects that append the text that the interrupted answer had so far; none without text. */
function saidSoFar({ said }: EventOf<'cancel' | 'limit'>): Effect[] {
  return said === undefined ? [] : [appendAssistant(interruptedAnswer(said.model, said.text))];
}

function cancelledCalls(
  state: Executing,
  event: EventOf<'cancel'>,
  interrupted: Effect,
  context: TransitionContext,
): Transition {
  const { reason } = event;
  const { early, spawned, turn } = state;
  const stopped = [...stopCalls(state, event.open, reason, context), interrupted];
  const pending = outstanding(state);
  if (pending.length === 0) {
    return endStopped(event, [...stopped, ...leaveFanIn(state, reason)], context);
  }
  return step({ type: 'cancelling', pending, results: early, spawned, reason, by: event.by, turn }, [
    ...stopped,
    ...cancelChildren(pending, reason),
  ]);
}

/**
 * Handles the limit on run time: running calls are stopped and children are asked to stop, without waiting for them, because a limit must hold whatever
 * others do. The last request gets the results so far. A request in flight is not aborted: its answer may be the last one, and a hanging provider would
 * not answer a second request either. At the final limit the turn ends in any state.
 */
export function limitReached(
  state: AgentState,
  event: EventOf<'limit'>,
  context: TransitionContext,
): Transition {
  const limit: Failure = { kind: 'timed_out', error: `limit reached: ${event.limit}`, retryable: true };
  const reason = `Cancelled: ${limit.error}`;
  const goOn = (turn: Turn, left: readonly Effect[]): Transition =>
    event.final ? endInFailure(turn.grace ?? limit, left, context) : lastRequest(turn, limit, left, context);
  switch (state.type) {
    case 'requesting': {
      const { turn } = state;
      if (event.final) return goOn(turn, [{ type: 'abort' }, ...saidSoFar(event)]);
      if (turn.grace !== null || turn.late !== undefined)
        return invalid(state, event, 'the last word was asked for');
      return step({ ...state, turn: { ...turn, late: limit } }, []);
    }
    case 'executing':
      return goOn(state.turn, [...stopCalls(state, [], limit.error, context), ...leaveFanIn(state, reason)]);
    case 'awaiting':
      return goOn(state.turn, leaveFanIn(state, reason));
    case 'cancelling': {
      const left = [appendEvent('limit', limit.error), ...leaveFanIn(state, reason)];
      return endStopped(state, left, context);
    }
    default:
      return invalid(state, event, 'no turn is running');
  }
}

/** An internal error: stops running work, asks children to stop, and ends the turn. */
export function faulted(
  state: AgentState,
  { failure }: EventOf<'fault'>,
  context: TransitionContext,
): Transition {
  const stopped: readonly Effect[] =
    state.type === 'requesting'
      ? [{ type: 'abort' }]
      : state.type === 'executing'
        ? stopCalls(state, [], failure.error, context)
        : [];
  const left =
    state.type === 'executing' || isFanIn(state) ? leaveFanIn(state, `Cancelled: ${failure.error}`) : [];
  return endInFailure(failure, [...stopped, ...left], context);
}
