import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';
import { tellUnserved } from '../worker/tell-unserved.ts';
import { jobJson } from './job-json.ts';
import { jobTable } from './job-table.ts';

/** `coppice cron list`. */
export function cronList(context: Context): Promise<number> {
  return withStore(context, async (store) => {
    const jobs = await store.jobs();
    if (context.json) {
      printJson({ schema: 'coppice/cron-jobs/v1', jobs: jobs.map(jobJson) });
      return 0;
    }
    if (jobs.length === 0) {
      process.stdout.write('no scheduled tasks; add one: coppice cron add NAME --every 1h --task "…"\n');
      return 0;
    }
    const newest = await Promise.all(
      jobs.map(async ({ id }) => {
        const [fire] = await store.fires(id, 1);
        const [run] = fire?.run_id == null ? [] : await store.findRuns(fire.run_id);
        return { fire: fire ?? null, run: run ?? null };
      }),
    );
    process.stdout.write(`${jobTable(jobs, newest, context.width, context.out).join('\n')}\n`);
    if (jobs.some((job) => job.next_at !== null)) await tellUnserved(store);
    return 0;
  });
}
