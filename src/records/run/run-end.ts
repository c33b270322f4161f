import { framedName } from '../agent/agent-name.ts';
import type { AgentState } from '../agent/state.ts';
import { withRest } from '../conversation/child-text.ts';
import { quoteStamps } from '../text/foreign-text.ts';
import type { Run, RunSource, RunStatus } from './run.ts';

export interface RunOutcome {
  readonly status: RunStatus;
  readonly result: string | null;
  /** Why it failed; for a completed run, the limit that cut it short. */
  readonly error: string | null;
}

/** Outcome of a run whose agent is in this state; null before its end. Partial work before a failure is its result. */
export function runOutcome(state: AgentState): RunOutcome | null {
  switch (state.type) {
    case 'completed':
      return { status: 'completed', result: state.result, error: state.limit ?? null };
    case 'failed': {
      const { kind, error } = state.failure;
      const status = kind === 'timed_out' ? 'timeout' : kind === 'cancelled' ? 'cancelled' : 'failed';
      return { status, result: state.partial ?? null, error };
    }
    case 'killed':
      return { status: 'cancelled', result: null, error: `Killed by ${state.by}` };
    default:
      return null;
  }
}

/** The end of a run for its requester or for people. `head` names the run, such as `[Subagent: research]`; `frame` is put around its result. */
export function endText(
  head: string,
  { status, result, error }: RunOutcome,
  frame = (text: string) => text,
): string {
  const kept = result ? frame(quoteStamps(result)) : '';
  if (status === 'completed' && error === null)
    return kept === '' ? `${head} Complete.` : `${head} Complete.\n\n${kept}`;
  const text = `${head} ${verdict(status)}: ${quoteStamps(error ?? 'no reason was kept')}`;
  return withRest(text, kept);
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

/** The end of a run for people outside: `[Cron: nightly] Complete.` and its result. Never empty. */
export function runText(run: Run): string {
  return endText(`[${HEADS[run.source]}: ${framedName(run.label ?? run.id)}]`, run);
}
