import { jobRuns } from '../../cron/job-runs.ts';
import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';
import { cronJobsOf } from './cron-jobs-of.ts';
import { jobRunJson } from './job-json.ts';
import { jobRunTable } from './job-table.ts';

/** `coppice cron runs JOB`. */
export function cronRuns(
  context: Context,
  text: string,
  options: { readonly limit: number },
): Promise<number> {
  return withStore(context, async (store) => {
    const job = await cronJobsOf(context, store).find(text);
    const runs = await jobRuns(store, job.id, options.limit);
    if (context.json) {
      printJson({ schema: 'coppice/cron-runs/v1', job: job.id, runs: runs.map(jobRunJson) });
      return 0;
    }
    if (runs.length === 0) process.stdout.write('it has not been due yet\n');
    else process.stdout.write(`${jobRunTable(job, runs, context.width, context.out).join('\n')}\n`);
    return 0;
  });
}
