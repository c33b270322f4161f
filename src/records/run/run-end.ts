import type { Origin } from '../agent/agent.ts';
import { framedName } from '../agent/agent-name.ts';
import type { AgentState, ChildOutcome } from '../agent/state.ts';
import { allTexts, withPartial } from '../conversation/child-text.ts';
import { deedsEnd, framed, framedReason, quoteStamps } from '../text/untrusted-text.ts';
import { deniedToRun, type Outcome, type OutcomeWord, outcomeWithText } from './outcome.ts';
import type { Run, RunSource, RunStatus } from './run.ts';

type RunFacts = Pick<Run, 'status' | 'error'> & Partial<Pick<Run, 'outcome' | 'outcome_text'>>;

const OF_STATUS: Readonly<Record<RunStatus, OutcomeWord>> = {
  ...({ queued: 'waiting', running: 'working', completed: 'done' } as const),
  ...({ failed: 'failed', timeout: 'cut_short', cancelled: 'stopped' } as const),
};

export function outcomeOfRun({ status, error, outcome = null, outcome_text = null }: RunFacts): Outcome {
  if (outcome !== null && outcome_text !== null) return { outcome, outcome_text };
  const word = status === 'completed' && error !== null ? 'cut_short' : OF_STATUS[status];
  return outcomeWithText(word, error ?? '');
}

export type RunOutcome = Pick<Run, 'status' | 'result' | 'error'>;

/**
 * Outcome of a run whose agent is in this state; null before its end. The result of a failed run is its partial work. A scheduled run also tells which calls
 * were denied, and has failed if no other call succeeded.
 */
export function runOutcome(state: AgentState, origin: Origin): RunOutcome | null {
  const outcome = outcomeOf(state);
  const denied = deniedToRun(state, origin);
  if (outcome === null || denied === null) return outcome;
  const status = outcome.status === 'completed' && !denied.did ? 'failed' : outcome.status;
  const error = outcome.error === null ? denied.line : `${outcome.error}; ${denied.line}`;
  return { ...outcome, status, error };
}

function outcomeOf(state: AgentState): RunOutcome | null {
  switch (state.type) {
    case 'completed':
      return { status: 'completed', result: state.result, error: state.limit ?? null };
    case 'failed': {
      const { kind, error } = state.failure;
      return { status: statusOf(kind), result: state.partial ?? null, error };
    }
    case 'killed':
      return { status: 'cancelled', result: null, error: `Killed by ${state.by}` };
    default:
      return null;
  }
}

/**
 * Message about the end of a run, for its requester or for people. `head` names the run, such as `[Subagent: research]`. With a delimiter, the result and the
 * reason for a failure are framed, because their text may come from a model, a tool or a provider.
 */
export function endText(
  head: string,
  { status, result, error, outcome, outcome_text }: RunFacts & Pick<Run, 'result'>,
  delimiter?: string,
): string {
  const inFrame = (what: string, text: string): string =>
    delimiter === undefined ? text : framed(delimiter, what, text);
  const kept = result ? inFrame('from a sub-agent, not from the user', quoteStamps(result)) : '';
  const is_done = outcome === 'done';
  if (status === 'completed' && (is_done || error === null)) {
    const others = is_done ? (outcome_text ?? '').slice(outcome.length) : '';
    const is_told = error === null || others.includes(error);
    const but = is_told ? (others === '' ? failedIn(result ?? '') : null) : error;
    return allTexts(`${head} Complete${others}${but === null ? '' : `, but ${but}`}.`, kept);
  }
  const why = quoteStamps(error ?? 'no reason was recorded');
  const said = delimiter === undefined || error === null ? ` ${why}` : `\n${framedReason(delimiter, why)}`;
  return withPartial(`${head} ${verdict(status)}:${said}`, kept);
}

/** How the last message of a run begins in which something failed or was skipped; `what`: `2 failed, 1 skipped`. */
export function failedHead(agents: number, what: string): string {
  return `Of ${agents} agents ${what}:`;
}

/** What failed in a run, by its last message; null if nothing did. */
export function failedIn(result: string): string | null {
  const [, agents, failed] = /^Of (\d+) agents (\d+) failed\b/.exec(result) ?? [];
  return agents === undefined ? null : `${failed} of ${agents} agents failed`;
}

function verdict(status: RunOutcome['status']): string {
  if (status === 'completed') return 'Cut short';
  if (status === 'timeout') return 'Timed out';
  return status === 'cancelled' ? 'Cancelled' : 'Failed';
}

const HEADS: Readonly<Record<RunSource, string>> = {
  cron: 'Cron',
  subagent: 'Subagent',
  delegate: 'Delegate',
};

/** Message about the end of a run, for people outside: `[Cron: nightly] Complete.` and its result. Never empty. */
export function runText(run: Run): string {
  return endText(`[${HEADS[run.source]}: ${framedName(run.label ?? run.id)}]`, run);
}

/** The announcement of a background run's end for its requester. `who`: its label or run id. */
export function announcement(who: string, outcome: ChildOutcome, delimiter: string, did?: string): string {
  return `${endText(`[Subagent: ${framedName(who)}]`, ended(outcome), delimiter)}${deedsEnd(did)}`;
}

function ended(outcome: ChildOutcome): RunOutcome {
  if (outcome.type === 'success')
    return { status: 'completed', result: outcome.result, error: outcome.limit ?? null };
  const { error, error_kind, partial } = outcome;
  return { status: statusOf(error_kind), result: partial ?? null, error };
}

function statusOf(kind: string): RunOutcome['status'] {
  if (kind === 'timed_out') return 'timeout';
  return kind === 'cancelled' || kind === 'killed' ? 'cancelled' : 'failed';
}
