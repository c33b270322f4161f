import { durationText } from '../../records/text/parse-duration.ts';
import { clean } from '../../render/clean.ts';
import { sign } from '../../render/style.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { type Detail, detailLines, printResult, sectionLines } from '../setup/output.ts';
import { nextText, scheduleText } from './job-line.ts';

/** `coppice cron show JOB`. */
export async function cronShow(context: Context, text: string): Promise<number> {
  const job = await ask(context, (asked) => asked.job(text));
  const none = sign(context.out, '–');
  const rows: readonly Detail[] = [
    ['job', `${clean(job.name)} (${job.id})`],
    ['schedule', scheduleText(job)],
    ['next', nextText(job)],
    ['session', job.session === 'main' ? `main ${job.root_id ?? ''}`.trim() : `cron:${job.id}`],
    ['made by', clean(job.created_by)],
    ['model', `${job.model}, thinking ${job.thinking}`],
    ['profile', job.profile ?? none],
    ['toolsets', job.toolsets.join(', ') || none],
    ['folder', job.cwd],
    ['allow', job.allow.join(', ') || none],
    ['deny', job.deny.join(', ') || none],
    ['timeout', job.timeout_seconds === null ? none : durationText(job.timeout_seconds * 1_000)],
    ['deliver', job.deliver.join(', ') || none],
    ['once', job.once ? 'yes' : 'no'],
    ['cleanup', job.cleanup],
    ['overlap', job.overlap],
  ];
  return printResult(context, job, () => [
    ...detailLines(rows, context.out),
    ...sectionLines('task', job.task, context.out),
  ]);
}
