import type { CronFire } from '../records/run/cron-job.ts';
import type { Run } from '../records/run/run.ts';
import type { Store } from '../store/store.ts';

export interface JobRun {
  readonly fire: CronFire;
  /** Null for an event or a skipped instant. */
  readonly run: Run | null;
}

/** The newest instants of a job, newest first. */
export async function jobRuns(store: Store, job_id: string, limit: number): Promise<JobRun[]> {
  const fires = await store.fires(job_id, limit);
  const runs = new Map((await store.runs({ job_id, limit })).map((run) => [run.id, run]));
  return Promise.all(
    fires.map(async (fire) => ({
      fire,
      run:
        fire.run_id === null
          ? null
          : (runs.get(fire.run_id) ?? (await store.findRuns(fire.run_id))[0] ?? null),
    })),
  );
}
