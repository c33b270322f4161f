import { randomUUID } from 'node:crypto';
import { nextInstant } from '../../src/cron/schedule/next-instant.ts';
import { Scheduler } from '../../src/cron/scheduler.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { NewCronJob, Schedule } from '../../src/records/run/cron-job.ts';
import type { Store } from '../../src/store/store.ts';
import { CONFIG } from '../store/ledger-fixture.ts';

export function jobOf(schedule: Schedule, over: Partial<NewCronJob> = {}): NewCronJob {
  const id = randomUUID();
  return {
    id,
    name: `job ${id}`,
    schedule,
    task: 'do it',
    session: 'isolated',
    root_id: null,
    created_by: 'you',
    config: CONFIG,
    limits: DEFAULT_LIMITS,
    placement: [],
    timeout_ms: null,
    deliver: [],
    once: schedule.type === 'at',
    cleanup: 'keep',
    overlap: 'skip',
    enabled: true,
    created_at: 0,
    ...over,
  };
}

export async function enter(store: Store, job: NewCronJob, now: number): Promise<NewCronJob> {
  await store.createJob({ ...job, created_at: now }, nextInstant(job.schedule, now));
  return job;
}

/** The schedulers of several servers; each checks only when the test calls `tick`, with the test's clock. */
export function schedulers(stores: readonly Store[]): Scheduler[] {
  return stores.map(
    (store) =>
      new Scheduler({
        store,
        canAsk: () => false,
        onFired: () => undefined,
        onTrouble: (error) => {
          throw error;
        },
      }),
  );
}

/** Ends every active run, so that none overlaps the next instant. */
export async function endRuns(store: Store): Promise<void> {
  for (const run of await store.runs({ active: true, source: 'cron' }))
    await store.kill(run.agent_id, 'the test', run.created_at);
}
