import type { CronFire, CronJob, NewCronJob } from '../records/run/cron-job.ts';
import type { FireRequest, FireVerdict } from '../records/run/fire-request.ts';

/** The part of the ledger that keeps schedules. One method, one transaction. */
export interface CronLedger {
  /** In the order of their names. */
  jobs(filter?: { readonly root_id?: string }): Promise<CronJob[]>;
  /** By name, id, unique prefix of one (at least 4 characters), or session key `cron:<id>`; an exact match alone. */
  findJobs(text: string): Promise<CronJob[]>;
  /**
   * Enters a job once: with an id that is there already nothing happens (`there`). `name`: another job has the name. `limit`: the tree of
   * `root_id` has `most` jobs that are enabled.
   */
  createJob(
    job: NewCronJob,
    next_at: number | null,
    most?: number,
  ): Promise<'created' | 'there' | 'name' | 'limit'>;
  /** Changes a job that is still as `version` says. `name`: another job has the name. */
  changeJob(
    job: NewCronJob,
    version: number,
    next_at: number | null,
    at: number,
  ): Promise<'changed' | 'name' | 'stale'>;
  /** False: it is gone already. Its runs stay in the history. */
  removeJob(id: string): Promise<boolean>;
  /**
   * What has to be looked at now: jobs that are due, jobs whose next instant was worked out by a clock that ran ahead of `at` by more than a second
   * (it was set back), and jobs with an instant that waits and no run at work.
   */
  dueJobs(at: number, limit: number): Promise<(CronJob & { readonly waiting: CronFire | null })[]>;
  /** When a job is due next; null: none is. */
  nextDue(): Promise<number | null>;
  /** Writes an instant down and what it leads to, or why it leads to nothing. Exactly one caller gets anything but `stale` for an instant. */
  fire(request: FireRequest): Promise<FireVerdict>;
  /** Works out anew when a job is due next, where nothing is fired. False: it was changed meanwhile. */
  replan(
    job_id: string,
    seen: { readonly version: number; readonly next_at: number | null },
    next_at: number | null,
    at: number,
  ): Promise<boolean>;
  /** Instants of a job, newest first. */
  fires(job_id: string, limit: number): Promise<CronFire[]>;
}
