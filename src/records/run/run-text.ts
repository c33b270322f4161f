import { framedName } from '../agent/agent-name.ts';
import { endText } from './end-text.ts';
import type { Run, RunSource } from './run.ts';

const HEADS: Readonly<Record<RunSource, string>> = {
  cron: 'Cron',
  subagent: 'Subagent',
  delegate: 'Delegate',
};

/** What people outside are told of a run that has ended: `[Cron: nightly] Complete.` and its result. Never empty. */
export function runText(run: Run): string {
  return endText(`[${HEADS[run.source]}: ${framedName(run.label ?? run.id)}]`, run);
}
