import { framedName } from '../agent/agent-name.ts';
import type { ChildOutcome } from '../agent/state.ts';
import { deedsEnd } from '../text/untrusted-text.ts';
import { endText, type RunOutcome } from './run-end.ts';

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
