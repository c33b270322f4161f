import { appendEvent, appendSystem } from './append.ts';
import type { Effect } from './effect.ts';
import type { Failure } from './failure.ts';
import { nextRequest } from './request.ts';
import type { ChildOutcome, Turn } from './state.ts';
import type { TransitionContext } from './transition-context.ts';
import { step, type Transition } from './transition-result.ts';

const NUDGE =
  'You stopped without a result. Call submit_result with your result, or submit_error if the task cannot be done.';

/** The model stopped asking for tools. */
export function endTurn(
  turn: Turn,
  text: string,
  effects: readonly Effect[],
  context: TransitionContext,
  appendix?: string,
): Transition {
  if (!context.reports) return step({ type: 'idle' }, effects);
  // Told to answer with what it has, it did: only the time that it overran makes that a failure (DESIGN.md, Decided).
  const answered = turn.grace?.kind === 'limit' && !context.submits && text !== '';
  if (turn.grace !== null && !answered)
    return endInFailure(turn.grace, text || turn.last_text, effects, context, appendix);
  if (!context.submits) return report({ type: 'success', result: text }, effects, appendix);
  if (!turn.nudged) return nextRequest({ ...turn, nudged: true }, [...effects, appendSystem(NUDGE)], context);
  const failure: Failure = {
    kind: 'no_result',
    error: 'stopped twice without submitting a result',
    retryable: false,
  };
  return endInFailure(failure, text || turn.last_text, effects, context, appendix);
}

/** The agent ends with what its parent awaits; an appendix joins what it brings. */
export function report(
  brought: ChildOutcome,
  effects: readonly Effect[],
  appendix?: string,
  retryable = false,
): Transition {
  const outcome = withAppendix(brought, appendix);
  const told: Effect[] = [...effects, { type: 'notify-parent', outcome }];
  if (outcome.type === 'success') return step({ type: 'completed', result: outcome.result }, told);
  const { error, error_kind, partial } = outcome;
  const failure: Failure = { kind: error_kind, error, retryable };
  return step({ type: 'failed', failure, ...(partial === undefined ? {} : { partial }) }, told);
}

/**
 * A failure that ends the turn: the end of an agent that reports, a halt that a person can lift for all others. `partial` is what
 * was done so far; empty for nothing.
 */
export function endInFailure(
  failure: Failure,
  partial: string,
  effects: readonly Effect[],
  context: TransitionContext,
  appendix = context.leaves,
): Transition {
  // A person can lift it: what may be done depends on its kind.
  if (!context.reports) {
    const halted = appendEvent('error', failure.error, { kind: failure.kind });
    return step({ type: 'errored', failure }, [...effects, halted]);
  }
  const told = [...effects, appendEvent('error', failure.error)];
  const { error, kind, retryable } = failure;
  const kept = partial === '' ? {} : { partial };
  return report({ type: 'failure', error, error_kind: kind, ...kept }, told, appendix, retryable);
}

/** Somebody stopped the turn: an agent that reports ends, any other waits for the next input. */
export function endStopped(
  reason: string,
  partial: string,
  effects: readonly Effect[],
  context: TransitionContext,
): Transition {
  if (!context.reports) return step({ type: 'idle' }, effects);
  return endInFailure({ kind: 'cancelled', error: reason, retryable: false }, partial, effects, context);
}

function withAppendix(outcome: ChildOutcome, appendix = ''): ChildOutcome {
  if (appendix === '') return outcome;
  const after = (text: string) => (text === '' ? appendix : `${text}\n\n${appendix}`);
  return outcome.type === 'success'
    ? { ...outcome, result: after(outcome.result) }
    : { ...outcome, partial: after(outcome.partial ?? '') };
}
