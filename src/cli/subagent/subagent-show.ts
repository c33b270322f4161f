import type { RunDocument } from '../../documents/shapes/document-parts.ts';
import { shownWord } from '../../records/run/outcome.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { sign } from '../../render/style.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { type Detail, detailLines, printResult, sectionLines } from '../setup/output.ts';

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
