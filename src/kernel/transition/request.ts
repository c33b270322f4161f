import type { Failure } from '../../records/agent/failure.ts';
import type { Turn } from '../../records/agent/state.ts';
import { appendEvent, appendSystem } from './append.ts';
import type { Effect } from './effect.ts';
import type { TransitionContext } from './transition-result.ts';
import { step, type Transition } from './transition-result.ts';

/** Starts a model request; messages appended by the effects are part of it. */
export function ask(turn: Turn, effects: readonly Effect[], attempt = 1): Transition {
  return step({ type: 'requesting', attempt, turn }, [...effects, { type: 'request-model', attempt }]);
}

/** All calls have results (law 5): starts the next request, or the last one if the turn has reached its limit. */
export function nextRequest(turn: Turn, effects: readonly Effect[], context: TransitionContext): Transition {
  if (turn.late !== undefined) return lastRequest(turn, turn.late, effects, context);
  if (turn.requests < context.turns) return ask(turn, effects);
  const { turns } = context;
  const error = `limit reached: ${turns} model ${turns === 1 ? 'request' : 'requests'} in one turn`;
  return lastRequest(turn, { kind: 'limit', error, retryable: false }, effects, context);
}

/** A limit never discards work: the model gives one last answer without tools (docs/vocabularies.md). */
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
