import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { tellUnserved } from '../setup/no-server-notices.ts';
import { printJson, printLines, printResult } from '../setup/output.ts';
import { jobRunTable, jobTable } from './job-table.ts';

/** `coppice cron list`. */
export function cronList(context: Context): Promise<number> {
  return ask(context, async (asked) => {
    const document = await asked.jobs();
    const { jobs } = document;
    if (context.json) printJson(document);
    else if (jobs.length === 0)
      printLines([context.hint('no scheduled tasks; add one: coppice cron add NAME --every 1h --task "…"')]);
    else {
      const newest = await Promise.all(
        jobs.map(async ({ id }) => (await asked.jobRuns(id, { limit: 1 })).runs[0]),
      );
      printLines(jobTable(jobs, newest, context.width, context.out));
      if (jobs.some((job) => job.next_at !== null)) await tellUnserved(context, asked);
    }
    return 0;
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
