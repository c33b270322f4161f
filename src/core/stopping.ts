import { appendEvent } from './append.ts';
import { stopCalls } from './calls.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import type { Failure } from './failure.ts';
import { cancelChildren, leaveFanIn } from './fan-in.ts';
import { outstanding } from './outstanding.ts';
import { lastRequest } from './request.ts';
import type { AgentState, Executing } from './state.ts';
import type { TransitionContext } from './transition-context.ts';
import { invalid, step, type Transition } from './transition-result.ts';
import { endInFailure, endStopped } from './turn-end.ts';

/** A person or the parent stops the turn; children that it awaits are waited for until they have stopped too (seed 3). */
export function cancelled(
  state: AgentState,
  event: EventOf<'cancel'>,
  context: TransitionContext,
): Transition {
  const { reason } = event;
  const interrupted = appendEvent('interrupted', `interrupted by ${event.by}: ${reason}`);
  switch (state.type) {
    case 'requesting':
      return endStopped(reason, state.turn.last_text, [{ type: 'abort' }, interrupted], context);
    case 'executing':
      return cancelledCalls(state, event, interrupted, context);
    case 'awaiting':
      return step({ ...state, type: 'cancelling', reason }, [
        interrupted,
        ...cancelChildren(state.pending, reason),
      ]);
    case 'cancelling':
      return invalid(state, event, 'it is being cancelled already');
    case 'waiting':
      return step({ type: 'idle' }, [
        appendEvent('waited', event.open[0]?.output ?? '{"status":"interrupted"}'),
      ]);
    default:
      // `* + UserCancel where context.is_sub_agent` (seed 3): the parent awaits an outcome in any case.
      if (context.reports) return endStopped(reason, '', [interrupted], context);
      return invalid(state, event, 'the agent is not at work');
  }
}

function cancelledCalls(
  state: Executing,
  event: EventOf<'cancel'>,
  interrupted: Effect,
  context: TransitionContext,
): Transition {
  const { reason } = event;
  const { early, spawned, turn } = state;
  const stopped = [...stopCalls(state, event.open, reason), interrupted];
  const pending = outstanding(state);
  if (pending.length === 0) {
    return endStopped(reason, turn.last_text, [...stopped, ...leaveFanIn(state, reason)], context);
  }
  return step({ type: 'cancelling', pending, results: early, spawned, reason, turn }, [
    ...stopped,
    ...cancelChildren(pending, reason),
  ]);
}

/**
 * The run time is used up. What runs is stopped and children are asked to stop; their parent does not wait for that, because a
 * limit must hold whatever others do. It gets its last request with what is there.
 */
export function limitReached(
  state: AgentState,
  event: EventOf<'limit'>,
  context: TransitionContext,
): Transition {
  const limit: Failure = { kind: 'timed_out', error: `limit reached: ${event.limit}`, retryable: true };
  const reason = `Cancelled: ${limit.error}`;
  switch (state.type) {
    case 'requesting': {
      const { turn, attempt } = state;
      if (turn.grace === null) return lastRequest(turn, limit, [{ type: 'abort' }], context, attempt + 1);
      return endInFailure(turn.grace, turn.last_text, [{ type: 'abort' }], context);
    }
    case 'executing': {
      const stopped = [...stopCalls(state, [], limit.error), ...leaveFanIn(state, reason)];
      return lastRequest(state.turn, limit, stopped, context);
    }
    case 'awaiting':
      return lastRequest(state.turn, limit, leaveFanIn(state, reason), context);
    case 'cancelling': {
      const left = [appendEvent('limit', limit.error), ...leaveFanIn(state, reason)];
      return endStopped(state.reason, state.turn.last_text, left, context);
    }
    default:
      return invalid(state, event, 'no turn is running');
  }
}

/** A fault of our own: what runs is stopped, children are asked to stop, and the turn ends in it. */
export function faulted(
  state: AgentState,
  { failure }: EventOf<'fault'>,
  context: TransitionContext,
): Transition {
  const reason = `Cancelled: ${failure.error}`;
  switch (state.type) {
    case 'requesting':
      return endInFailure(failure, state.turn.last_text, [{ type: 'abort' }], context);
    case 'executing': {
      const stopped = [...stopCalls(state, [], failure.error), ...leaveFanIn(state, reason)];
      return endInFailure(failure, state.turn.last_text, stopped, context);
    }
    case 'awaiting':
    case 'cancelling':
      return endInFailure(failure, state.turn.last_text, leaveFanIn(state, reason), context);
    default:
      return endInFailure(failure, '', [], context);
  }
}
