import type { Effect } from './effect.ts';
import type { Failure } from './failure.ts';
import type { Turn } from './state.ts';
import {
  eventMessage,
  request,
  requesting,
  step,
  systemMessage,
  type Transition,
  type TransitionContext,
} from './transition-step.ts';

/** A failure that ends the turn: terminal for an agent that reports, a halt that a person can lift for all others. */
export function endInFailure(
  failure: Failure,
  partial: string | undefined,
  context: TransitionContext,
  effects: Effect[],
): Transition {
  effects.push(eventMessage('error', failure.error));
  if (!context.reports) return step({ type: 'errored', failure }, effects);
  const kept = partial === undefined || partial === '' ? {} : { partial };
  effects.push({
    type: 'notify-parent',
    outcome: { type: 'failure', error: failure.error, error_kind: failure.kind, ...kept },
  });
  return step({ type: 'failed', failure, ...kept }, effects);
}

/** All calls are answered (law 5): the next request, or the last one if the turn has had its share. */
export function nextRequest(turn: Turn, effects: Effect[], context: TransitionContext): Transition {
  if (turn.requests < context.turns) return step(requesting(turn), [...effects, ...request()]);
  return lastRequest(turn, `${context.turns} model requests in one turn`, effects);
}

export function lastRequest(turn: Turn, limit: string, effects: Effect[], attempt = 1): Transition {
  const grace = { ...turn, grace: true };
  return step(requesting(grace, attempt), [
    ...effects,
    eventMessage('limit', `limit reached: ${limit}`),
    systemMessage(`Limit reached: ${limit}. Tools are off. Submit what you have now as your answer.`),
    ...request(attempt),
  ]);
}
