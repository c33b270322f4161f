import { setTimeout as sleep } from 'node:timers/promises';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { count } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

interface UsageOptions {
  readonly by: 'day' | 'model' | 'profile' | 'tree' | 'agent';
  readonly days: number;
  /** Replaces `days`: a time on the first day, milliseconds since the epoch. */
  readonly since?: number;
}

type Usage = DocumentOf<'coppice/usage/v1'>;

const DAY_MS = 86_400_000;
/** Pause between queries: history is read in pieces, so the query is repeated until the answer is complete. */
const PAUSE_MS = 50;

/** `coppice usage`: what model requests used, the most expensive first. */
export function usage(context: Context, { by, since, ...options }: UsageOptions): Promise<number> {
  const days = since === undefined ? options.days : daysSince(since);
  return ask(context, async (asked) => {
    let document = await asked.usage({ days });
    while (!document.complete) {
      await sleep(PAUSE_MS);
      document = await asked.usage({ days });
    }
    return printResult(context, document, () => usageLines(document, by, context));
  });
}

/** Returns the number of days in UTC from `since` to today, both included. Throws `E_USAGE` for a later day. */
function daysSince(since: number): number {
  const days = Math.floor(Date.now() / DAY_MS) - Math.floor(since / DAY_MS) + 1;
  if (days >= 1) return days;
  throw new CoppiceError('E_USAGE', '--since is a day that has not come yet');
}

function usageLines(document: Usage, by: UsageOptions['by'], { width, out: style }: Context): string[] {
  const lists = {
    day: document.by_day.filter(({ requests }) => requests > 0).map((row) => [row.day, row] as const),
    model: document.by_model.map((row) => [row.model, row] as const),
    profile: document.by_profile.map((row) => [row.profile ?? '(none)', row] as const),
    tree: document.by_tree.map((row) => [`${row.root_id.slice(0, 8)} ${row.title ?? ''}`, row] as const),
    agent: document.by_agent.map((row) => [`${row.agent_id.slice(0, 8)} ${row.name ?? ''}`, row] as const),
  };
  const rows = [...lists[by], ['in all', document.total] as const].map(([name, used]) => [
    String(used.requests),
    count(used.input),
    count(used.cached),
    count(used.output),
    used.cost_usd === null ? '' : `$${used.cost_usd.toFixed(4)}`,
    clean(name),
  ]);
  const head = ['REQUESTS', 'INPUT', 'CACHED', 'OUTPUT', 'COST', by.toUpperCase()];
  return tableLines(head, rows, { width, right: new Set([0, 1, 2, 3, 4]), style });
}
