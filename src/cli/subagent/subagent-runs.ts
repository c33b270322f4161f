import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { RunDocument } from '../../documents/shapes/document-parts.ts';
import { shownWord } from '../../records/run/outcome.ts';
import { counted } from '../../records/text/text.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { resumeCommand } from '../../settings/suggested-command.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { type Detail, detailLines, printLines, printResult, sectionLines } from '../setup/output.ts';

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
  printLines([`${counted(runs.length, 'run')}${queued === 0 ? '' : `, ${queued} queued`}`]);
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
  const { runs } = document;
  printResult(context, document, () => (runs.length > 0 ? runTable(context, runs) : [context.hint(none)]));
  return !context.json && runs.length > 0;
}

function runTable({ width, out: style }: Context, runs: Runs['runs']): string[] {
  const now = Date.now();
  const short = shortIds(runs.map((run) => run.id));
  const rows = runs.map((run) => [
    short.get(run.id) ?? run.id,
    run.label === null ? sign(style, '–') : clean(run.label),
    run.source,
    stateMark(shownWord(run.status, run.outcome), style),
    run.started_at === null
      ? sign(style, '–')
      : duration(run.duration_ms ?? Math.max(0, now - Date.parse(run.started_at))),
    duration(now - Date.parse(run.created_at)),
    clean(run.error ?? (run.outcome_text.startsWith('done, ') ? run.outcome_text : run.task)),
  ]);
  return tableLines(HEAD, rows, { width, right: new Set([4, 5]), style, most: { 1: 24 } });
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

/** `coppice subagent show RUN`: one row of the history in full. */
export async function subagentShow(context: Context, text: string): Promise<number> {
  const run = await ask(context, (asked) => asked.run(text));
  const none = sign(context.out, '–');
  const rows: readonly Detail[] = [
    ['run', run.id],
    ['label', run.label === null ? none : clean(run.label)],
    ['status', stateMark(shownWord(run.status, run.outcome), context.out)],
    ['outcome', clean(run.outcome_text)],
    ['source', run.source],
    ['session', run.session_key],
    ['agent', run.has_conversation ? run.agent_id : `${run.agent_id} (deleted)`],
    ['requester', run.requester_key],
    ['model', `${run.model}, thinking ${run.thinking}`],
    ['timeout', run.timeout_seconds === null ? none : duration(run.timeout_seconds * 1_000)],
    ['cleanup', run.cleanup],
    ['deliver', run.deliver.join(', ') || none],
    ['created', run.created_at],
    ['started', run.started_at ?? none],
    ['finished', run.finished_at ?? none],
    ['duration', durationOf(run) ?? none],
  ];
  return printResult(context, run, () => [
    ...detailLines(rows, context.out),
    ...sectionLines('task', run.task, context.out),
    ...sectionLines('error', run.error, context.out),
    ...sectionLines('result', run.result, context.out),
  ]);
}

/** Duration of a run, in milliseconds if it is short; for a running one, the time so far. */
function durationOf({
  started_at,
  duration_ms,
}: Pick<RunDocument, 'started_at' | 'duration_ms'>): string | null {
  if (started_at === null) return null;
  if (duration_ms === null) return `${duration(Date.now() - Date.parse(started_at))} so far`;
  return duration_ms < 10_000 ? `${duration_ms} ms` : duration(duration_ms);
}

/** `coppice subagent cancel RUN`: the process that leads the run stops it and keeps what was done; a run that no process leads is killed. */
export async function subagentCancel(context: Context, text: string): Promise<number> {
  const run = await ask(context, (asked) => asked.cancelRun(text));
  return printResult(context, run, () => [`${run.status} ${clean(run.label ?? run.id)}`]);
}
