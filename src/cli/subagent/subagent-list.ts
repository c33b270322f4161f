import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { shownWord } from '../../records/run/outcome.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit, sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { resumeCommand } from '../../settings/suggested-command.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';

const HEAD = ['RUN', 'LABEL', 'SOURCE', 'STATUS', 'TIME', 'AGE', 'TASK, OR WHY IT FAILED'] as const;

type Runs = DocumentOf<'coppice/subagent-runs/v1'>;
/** Maximum rows that a server lists. */
const ACTIVE_MAX = 1_000;

/** `coppice subagent list`: runs that are queued or running, oldest first. */
export async function subagentList(context: Context): Promise<number> {
  const newest = await ask(context, (asked) => asked.runs({ active: true, limit: ACTIVE_MAX }));
  const document = { ...newest, runs: newest.runs.toReversed() };
  const { runs } = document;
  if (!printRuns(context, document, 'no runs at work; see all: coppice subagent history')) return 0;
  const queued = runs.filter((run) => run.status === 'queued').length;
  const count = `${runs.length} run${runs.length === 1 ? '' : 's'}`;
  printLines([`${count}${queued === 0 ? '' : `, ${queued} queued`}`]);
  tellUnledRuns(context, document);
  return 0;
}

/** `coppice subagent history`: all runs, newest first; rows stay when a session is deleted. */
export async function subagentHistory(
  context: Context,
  { limit }: { readonly limit: number },
): Promise<number> {
  printRuns(context, await ask(context, (asked) => asked.runs({ limit })), 'no runs yet');
  return 0;
}

/** Prints the runs; returns whether a table was printed. */
function printRuns(context: Context, document: Runs, none: string): boolean {
  const shown = !context.json && document.runs.length > 0;
  if (context.json) printJson(document);
  else printLines(shown ? runTable(context, document.runs) : [context.hint(none)]);
  return shown;
}

function runTable({ width, out: style }: Context, runs: Runs['runs']): string[] {
  const now = Date.now();
  const short = shortIds(runs.map((run) => run.id));
  const rows = runs.map((run) => [
    short.get(run.id) ?? run.id,
    run.label === null ? sign(style, '–') : fit(clean(run.label), 24, style),
    run.source,
    stateMark(shownWord(run.status, run.outcome), style),
    run.started_at === null
      ? sign(style, '–')
      : duration(run.duration_ms ?? Math.max(0, now - Date.parse(run.started_at))),
    duration(now - Date.parse(run.created_at)),
    clean(run.error ?? run.task),
  ]);
  return tableLines(HEAD, rows, { width, right: new Set([4, 5]), style });
}

/** Reports runs that no process leads, because their rows look as if they were running. */
function tellUnledRuns(context: Context, { runs, unled }: Runs): void {
  if (unled.length === 0) return;
  const which = unled.length === runs.length ? 'no process' : `${unled.length} of them: no process`;
  const roots = new Set(runs.flatMap(({ id, root_id }) => (unled.includes(id) ? [root_id] : [])));
  printLines([
    `${which} leads them now, nothing is lost; continue with:`,
    ...[...roots].map((root_id) => `  ${resumeCommand(context, root_id, false)}`),
  ]);
}
