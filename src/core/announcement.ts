import type { ChildOutcome } from './state.ts';

/** What a requester is told of the end of a background run (seed 4, Result Announcement). `who` is its label, or its run id. */
export function announcement(who: string, outcome: ChildOutcome): string {
  const head = `[Subagent: ${who}]`;
  if (outcome.type === 'success') return `${head} Complete.\n\n${outcome.result}`;
  const { error, error_kind, partial } = outcome;
  const text = `${head} ${verdict(error_kind)}: ${error}`;
  return partial === undefined || partial === '' ? text : `${text}\n\nWhat it had by then:\n${partial}`;
}

function verdict(kind: string): string {
  if (kind === 'timed_out') return 'Timed out';
  return kind === 'cancelled' || kind === 'killed' ? 'Cancelled' : 'Failed';
}
