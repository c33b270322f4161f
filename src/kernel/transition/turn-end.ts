import { missingEvidence } from '../../records/agent/deeds-line.ts';
import type { Failure } from '../../records/agent/failure.ts';
import type { ChildOutcome, Turn } from '../../records/agent/state.ts';
import { allTexts, saidIn } from '../../records/conversation/child-text.ts';
import { appendEvent, appendSystem } from './append.ts';
import type { Effect } from './effect.ts';
import { nextRequest } from './request.ts';
import { step, type Transition, type TransitionContext } from './transition-result.ts';

const nudge = (text: string) =>
  `Nothing is submitted yet: ${text.trim() === '' ? 'your answer is empty' : 'what you wrote is text, not a call'}. Call submit_result with your whole result, or submit_error if the task cannot be done.`;

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

/** `limit`: the limit that kept the agent from providing the evidence; null if none. */
export function unprovedFailure(missing: readonly string[], limit: Failure | null = null): Failure {
  const error = `required evidence missing: ${missing.join(', ')}`;
  return {
    kind: 'no_evidence',
    error: limit === null ? error : `${error} (${limit.error})`,
    retryable: false,
  };
}

/** Ends the turn after an answer without calls. */
export function endTurn(
  turn: Turn,
  text: string,
  effects: readonly Effect[],
  context: TransitionContext,
  appendix?: string,
): Transition {
  // What an answer goes on with is part of its text.
  const { grace, reminded, unfinished: _, ...counters } = turn;
  const limit = grace === null ? {} : { limit: grace.error };
  const ends = context.reports || context.submits;
  const rests = !ends || (grace === null && context.owed?.() === true);
  if (rests) return step({ type: 'idle', ...limit }, effects);
  const fail = (failure: Failure) => endInFailure(failure, effects, context, { appendix });
  const missing = context.submits ? missingEvidence(context, turn.deeds) : [];
  const is_enough = text.trim() !== '' && context.checked !== true && missing.length === 0;
  const is_asked = !is_enough || turn.late !== undefined;
  if (context.submits && grace === null && reminded === undefined && is_asked)
    return nextRequest(
      { ...counters, grace, reminded: text },
      [...effects, appendSystem(nudge(text))],
      context,
    );
  if (text.trim() === '') return fail(grace ?? SILENT);
  // A last answer after a limit is a result; only the run time limit makes it a failure (docs/vocabularies.md).
  if (grace !== null && grace.kind !== 'limit') return fail(grace);
  if (context.checked === true) return fail(grace ?? UNSUBMITTED);
  if (missing.length > 0) return fail(unprovedFailure(missing, grace));
  const unsubmitted = context.submits ? { unsubmitted: true as const } : {};
  return report(
    { type: 'success', result: allTexts(reminded, text), ...limit, ...unsubmitted },
    effects,
    appendix,
  );
}

/** Ends the agent with the outcome that its parent awaits, plus the appendix. */
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
  /** Added to the partial result; default: `context.leaves`. */
  readonly appendix?: string | undefined;
  /** Text that no message contains yet: of an interrupted answer, or of a refused submission. */
  readonly unfinished?: string | undefined;
  /** The text of these effects continues the earlier text without a paragraph break. */
  readonly continues?: boolean;
}

/** Ends the turn in failure: final for an agent with `reports`, retryable by a person for others. The partial result is all that the agent said. */
export function endInFailure(
  failure: Failure,
  effects: readonly Effect[],
  context: TransitionContext,
  { appendix = context.leaves, unfinished, continues = false }: FailureDetails = {},
): Transition {
  // `kind` tells people what they can do about it.
  if (!context.reports) {
    const halted = appendEvent('error', failure.error, { kind: failure.kind });
    return step({ type: 'errored', failure }, [...effects, halted]);
  }
  const told = [...effects, appendEvent('error', failure.error)];
  const { error, kind, retryable } = failure;
  const appended = effects.flatMap((effect) => (effect.type === 'append' ? [effect.message] : []));
  const [before = '', now] = [context.said?.(), allTexts(...saidIn(appended), unfinished)];
  const partial = continues ? before + now : allTexts(before, now);
  const kept = partial === '' ? {} : { partial };
  return report({ type: 'failure', error, error_kind: kind, ...kept }, told, appendix, retryable);
}

/** Ends a turn that somebody stopped: an agent with `reports` ends, any other idles. */
export function endStopped(
  { reason, by = 'a person' }: { readonly reason: string; readonly by?: string },
  effects: readonly Effect[],
  context: TransitionContext,
): Transition {
  if (!context.reports) return step({ type: 'idle', stopped_by: by }, effects);
  return endInFailure({ kind: 'cancelled', error: reason, retryable: false }, effects, context);
}

function withAppendix(outcome: ChildOutcome, appendix = ''): ChildOutcome {
  if (appendix === '') return outcome;
  const after = (text: string) => (text === '' ? appendix : `${text}\n\n${appendix}`);
  return outcome.type === 'success'
    ? { ...outcome, result: after(outcome.result) }
    : { ...outcome, partial: after(outcome.partial ?? '') };
}
