import { durationText } from '../../records/text/parse-duration.ts';
import { clean } from '../../render/clean.ts';
import { sign } from '../../render/style.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { tellUnserved } from '../setup/no-server-notices.ts';
import { type Detail, detailLines, printResult, sectionLines } from '../setup/output.ts';
import { nextText, scheduleText } from './job-line.ts';
import { jobRunTable, jobTable } from './job-table.ts';

/** `coppice cron list`. */
export function cronList(context: Context): Promise<number> {
  return ask(context, async (asked) => {
    const document = await asked.jobs();
    const { jobs } = document;
    const shown = context.json ? [] : jobs;
    const newest = await Promise.all(
      shown.map(async ({ id }) => (await asked.jobRuns(id, { limit: 1 })).runs[0]),
    );
    if (shown.some((job) => job.next_at !== null)) await tellUnserved(context, asked);
    return printResult(context, document, () =>
      jobs.length === 0
        ? [context.hint('no scheduled tasks; add one: coppice cron add NAME --every 1h --task "…"')]
        : jobTable(jobs, newest, context.width, context.out),
    );
  });
}

/** `coppice cron runs JOB`. */
export function cronRuns(
  context: Context,
  text: string,
  { limit }: { readonly limit: number },
): Promise<number> {
  return ask(context, async (asked) => {
    const job = await asked.job(text);
    const document = await asked.jobRuns(job.id, { limit });
    return printResult(context, document, () =>
      document.runs.length === 0
        ? ['it has not been due yet']
        : jobRunTable(job, document.runs, context.width, context.out),
    );
  });
}

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
    ['workflow', job.workflow === null ? none : clean(job.workflow)],
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
