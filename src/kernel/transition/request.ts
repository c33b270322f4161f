import type { Failure } from '../../records/agent/failure.ts';
import {
  type AgentState,
  type Compacting,
  newTurn,
  type Resting,
  type Turn,
} from '../../records/agent/state.ts';
import { counted } from '../../records/text/text.ts';
import { appendEvent, appendSystem } from './append.ts';
import type { Effect } from './effect.ts';
import type { AgentEvent, EventOf } from './event.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';

/** Starts a model request; messages appended by the effects are part of it. */
export function ask(turn: Turn, effects: readonly Effect[], attempt = 1, insists = false): Transition {
  const request: Effect = { type: 'request-model', attempt, ...(insists && { insists }) };
  return step({ type: 'requesting', attempt, turn }, [...effects, request]);
}

/** All calls have results (law 5): starts the next request, or the last one if the turn has reached its limit. */
export function nextRequest(turn: Turn, effects: readonly Effect[], context: TransitionContext): Transition {
  if (turn.late !== undefined) return lastRequest(turn, turn.late, effects, context);
  const { turns, last_counts = false } = context;
  if (turn.requests + (last_counts ? 1 : 0) < turns) return ask(turn, effects);
  const error = `limit reached: ${counted(turns, 'model request')} in one turn`;
  return lastRequest(turn, { kind: 'limit', error, retryable: false }, effects, context);
}

/** Starts the last request after a limit, so that no work is discarded: the model answers once more, without tools (docs/vocabularies.md). */
export function lastRequest(
  turn: Turn,
  limit: Failure,
  effects: readonly Effect[],
  context: TransitionContext,
): Transition {
  const order = context.submits
    ? 'Call submit_result with what you have now; no other tool is run.'
    : 'Tools are off. Answer with what you have now.';
  const told = [appendEvent('limit', limit.error), appendSystem(`Finish now: ${limit.error}. ${order}`)];
  return ask({ ...turn, grace: limit }, [...effects, ...told]);
}

/** Makes the conversation fit its model's window (docs/context.md). Rows are only added, so people and earlier forks still see all of it. */
export function makeRoom(
  state: AgentState,
  event: EventOf<'elide' | 'summarise' | 'summarised' | 'compact'>,
): Transition {
  if (event.type === 'compact' && (state.type === 'idle' || state.type === 'errored'))
    return compacting(newTurn(event.at), { note: event.note, rest: state });
  if (state.type !== 'requesting') return invalid(state, event, 'no request is about to start');
  const { turn, attempt } = state;
  switch (event.type) {
    case 'compact': {
      // The request that is about to be sent becomes the one for the summary.
      const note = [state.compacting?.note ?? '', event.note].filter((one) => one !== '').join('; ');
      return step({ ...state, compacting: { ...state.compacting, note } }, []);
    }
    case 'elide': {
      const { through, over } = event;
      const text = `long results up to message ${through} are shortened in what the model is sent`;
      return ask(turn, [appendEvent('elided', text, { through, over })], attempt);
    }
    case 'summarise':
      return compacting(turn, { note: '' });
    case 'summarised': {
      if (state.compacting === undefined) return invalid(state, event, 'no summary was asked for');
      const { rest } = state.compacting;
      const next = (told: Effect): Transition =>
        rest === undefined ? ask(turn, [told]) : step(rest, [told]);
      if (event.checkpoint === null) return next(appendEvent('notice', 'there is nothing to summarise yet'));
      const { number, through } = event.checkpoint;
      const text = `checkpoint ${number}: a summary takes the place of messages 1 to ${through} in what the model is sent`;
      return next(appendEvent('checkpoint', text, { ...event.checkpoint }));
    }
  }
}

/** Handles an event that ends a resting agent's request for a summary; null for other events. No turn ends: nobody is notified, nothing is left to retry. */
export function endRestingSummary(rest: Resting, event: AgentEvent): Transition | null {
  const failed = (error: string) => appendEvent('error', `no checkpoint was made: ${error}`);
  switch (event.type) {
    case 'request-failed':
      return step(rest, [failed(event.failure.error)]);
    case 'fault':
      return step(rest, [{ type: 'abort' }, failed(event.failure.error)]);
    case 'limit':
      return event.final ? step(rest, [{ type: 'abort' }, failed(`limit reached: ${event.limit}`)]) : null;
    case 'cancel':
      return step(rest, [
        { type: 'abort' },
        appendEvent('interrupted', `interrupted by ${event.by}: ${event.reason}`),
      ]);
    default:
      return null;
  }
}

function compacting(turn: Turn, compacting: Compacting): Transition {
  return step({ type: 'requesting', attempt: 1, turn, compacting }, [{ type: 'request-model', attempt: 1 }]);
}

/** Restarts the request that was about to be sent, after a message to the model about the budget. */
export function budgetTold(
  state: Extract<AgentState, { type: 'requesting' }>,
  { text, last }: EventOf<'budget'>,
  context: TransitionContext,
): Transition {
  const { turn, attempt } = state;
  if (last) return lastRequest(turn, { kind: 'limit', error: text, retryable: true }, [], context);
  const told = [appendEvent('notice', text, { about: 'budget' }), appendSystem(text)];
  return step(state, [...told, { type: 'request-model', attempt }]);
}
