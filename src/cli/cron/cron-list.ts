import { jobRuns } from '../../cron/job-runs.ts';
import { jobJson, jobRunJson } from '../../documents/job-json.ts';
import { tellUnserved } from '../../serve/leading/leaders.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';
import { cronJobsOf } from './cron-jobs-of.ts';
import { jobRunTable, jobTable } from './job-table.ts';

/** `coppice cron list`. */
export function cronList(context: Context): Promise<number> {
  return withStore(context, async (store) => {
    const jobs = await store.jobs();
    if (context.json) {
      printJson({ schema: 'coppice/cron-jobs/v1', jobs: jobs.map(jobJson) });
      return 0;
    }
    if (jobs.length === 0) {
      printLines(['no scheduled tasks; add one: coppice cron add NAME --every 1h --task "…"']);
      return 0;
    }
    const newest = await Promise.all(
      jobs.map(async ({ id }) => {
        const [fire] = await store.fires(id, 1);
        const [run] = fire?.run_id == null ? [] : await store.findRuns(fire.run_id);
        return { fire: fire ?? null, run: run ?? null };
      }),
    );
    printLines(jobTable(jobs, newest, context.width, context.out));
    if (jobs.some((job) => job.next_at !== null)) await tellUnserved(store);
    return 0;
  });
}

/** `coppice cron runs JOB`. */
export function cronRuns(
  context: Context,
  text: string,
  options: { readonly limit: number },
): Promise<number> {
  return withStore(context, async (store) => {
    const job = await cronJobsOf(context, store).find(text);
    const runs = await jobRuns(store, job.id, options.limit);
    if (context.json) printJson({ schema: 'coppice/cron-runs/v1', job: job.id, runs: runs.map(jobRunJson) });
    else if (runs.length === 0) printLines(['it has not been due yet']);
    else printLines(jobRunTable(job, runs, context.width, context.out));
    return 0;
  });
}
