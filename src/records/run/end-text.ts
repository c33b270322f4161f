import { withRest } from '../conversation/child-text.ts';
import type { RunOutcome } from './run-outcome.ts';

/** The end of a run for whoever asked for it (seed 4, Result Announcement). `head` says whose end, such as `[Subagent: research]`. */
export function endText(head: string, { status, result, error }: RunOutcome): string {
  const kept = quoted(result ?? '');
  if (status === 'completed' && error === null)
    return kept === '' ? `${head} Complete.` : `${head} Complete.\n\n${kept}`;
  const text = `${head} ${verdict(status)}: ${quoted(error ?? 'no reason was kept')}`;
  return withRest(text, kept);
}

function verdict(status: RunOutcome['status']): string {
  if (status === 'completed') return 'Cut short';
  if (status === 'timeout') return 'Timed out';
  return status === 'cancelled' ? 'Cancelled' : 'Failed';
}

/** A line that would read as the end of another run is marked as what it is: a part of this one's text. */
function quoted(text: string): string {
  return text.replaceAll(/^(?=[^\S\n]*\[(?:Subagent|Cron|Delegate)\b)/gim, '> ');
}
