import type { ChildOutcome, Turn } from '../../records/agent/state.ts';
import { allTexts, saidIn } from '../../records/conversation/child-text.ts';
import type { Failure } from '../../records/conversation/failure.ts';
import { appendEvent, appendSystem } from './append.ts';
import type { Effect } from './effect.ts';
import { nextRequest } from './request.ts';
import type { TransitionContext } from './transition-context.ts';
import { step, type Transition } from './transition-result.ts';

const NUDGE =
  'You stopped without a result. Call submit_result with your result, or submit_error if the task cannot be done.';

const SILENT: Failure = {
  kind: 'no_result',
  error: 'stopped without a result: its last answer says nothing',
  retryable: false,
};
const UNSUBMITTED: Failure = {
  kind: 'no_result',
  error: 'stopped twice without submitting a result',
  retryable: false,
};

/** The model stopped asking for tools. */
export function endTurn(
  turn: Turn,
  text: string,
  effects: readonly Effect[],
  context: TransitionContext,
  appendix?: string,
): Transition {
  const { grace, reminded } = turn;
  const limit = grace === null ? {} : { limit: grace.error };
  if (!context.reports) return step({ type: 'idle', ...limit }, effects);
  const fail = (failure: Failure) => endInFailure(failure, effects, context, { appendix });
  if (context.submits && grace === null && reminded === undefined)
    return nextRequest({ ...turn, reminded: text }, [...effects, appendSystem(NUDGE)], context);
  if (text.trim() === '') return fail(grace ?? SILENT);
  // Told to answer with what it has, it did: only the time that it overran makes that a failure (DESIGN.md, Decided).
  if (grace !== null && grace.kind !== 'limit') return fail(grace);
  if (context.checked === true) return fail(grace ?? UNSUBMITTED);
  const unsubmitted = context.submits ? { unsubmitted: true as const } : {};
  return report(
    { type: 'success', result: allTexts(reminded, text), ...limit, ...unsubmitted },
    effects,
    appendix,
  );
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
  if (outcome.type === 'success') return step({ ...outcome, type: 'completed' }, told);
  const { error, error_kind, partial } = outcome;
  const failure: Failure = { kind: error_kind, error, retryable };
  return step({ type: 'failed', failure, ...(partial === undefined ? {} : { partial }) }, told);
}

export interface FailureDetails {
  /** Joins what is left; without it, what the context says of the agent's work. */
  readonly appendix?: string | undefined;
  /** What the agent was saying when it was stopped. */
  readonly unfinished?: string | undefined;
  /** What it says with these effects goes on in the middle of what it said before. */
  readonly continues?: boolean;
}

/** A failure that ends the turn: the end of an agent that reports, a halt that a person can lift for all others. What is left of it is all that the agent said. */
export function endInFailure(
  failure: Failure,
  effects: readonly Effect[],
  context: TransitionContext,
  { appendix = context.leaves, unfinished, continues = false }: FailureDetails = {},
): Transition {
  // A person can lift it: what may be done depends on its kind.
  if (!context.reports) {
    const halted = appendEvent('error', failure.error, { kind: failure.kind });
    return step({ type: 'errored', failure }, [...effects, halted]);
  }
  const told = [...effects, appendEvent('error', failure.error)];
  const { error, kind, retryable } = failure;
  const [before = '', now] = [context.said?.(), allTexts(...saidWith(effects), unfinished)];
  const partial = continues ? before + now : allTexts(before, now);
  const kept = partial === '' ? {} : { partial };
  return report({ type: 'failure', error, error_kind: kind, ...kept }, told, appendix, retryable);
}

/** Somebody stopped the turn: an agent that reports ends, any other waits for the next input. */
export function endStopped(
  reason: string,
  effects: readonly Effect[],
  context: TransitionContext,
): Transition {
  if (!context.reports) return step({ type: 'idle' }, effects);
  return endInFailure({ kind: 'cancelled', error: reason, retryable: false }, effects, context);
}

function withAppendix(outcome: ChildOutcome, appendix = ''): ChildOutcome {
  if (appendix === '') return outcome;
  const after = (text: string) => (text === '' ? appendix : `${text}\n\n${appendix}`);
  return outcome.type === 'success'
    ? { ...outcome, result: after(outcome.result) }
    : { ...outcome, partial: after(outcome.partial ?? '') };
}

/** What an agent says with the messages that these effects append. */
function saidWith(effects: readonly Effect[]): string[] {
  return saidIn(effects.flatMap((effect) => (effect.type === 'append' ? [effect.message] : [])));
}
