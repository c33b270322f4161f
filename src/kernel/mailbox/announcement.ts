import { framedName } from '../../records/agent/agent-name.ts';
import type { ChildOutcome } from '../../records/agent/state.ts';
import type { RunOutcome } from '../../records/run/run-end.ts';
import { endText } from '../../records/run/run-end.ts';

/** What a requester is told of the end of a background run (seed 4, Result Announcement). `who` is its label, or its run id. */
export function announcement(who: string, outcome: ChildOutcome): string {
  return endText(`[Subagent: ${framedName(who)}]`, ended(outcome));
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
