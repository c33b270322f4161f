import type { CronFire, CronJob, NewCronJob } from '../records/run/cron-job.ts';
import type { FireRequest, FireVerdict } from '../records/run/fire-request.ts';

/** The schedules of the ledger. Every method is one transaction. */
export interface CronLedger {
  /** Sorted by name. */
  jobs(filter?: { readonly root_id?: string }): Promise<CronJob[]>;
  /** Finds jobs by name, id, unique prefix of an id (at least 4 characters), or session key `cron:<id>`; an exact match excludes all others. */
  findJobs(text: string): Promise<CronJob[]>;
  /** Idempotent by id: `there` if the job exists. `name`: another job has the name. `limit`: the tree of `root_id` already has `most` enabled jobs. */
  createJob(
    job: NewCronJob,
    next_at: number | null,
    most?: number,
  ): Promise<'created' | 'there' | 'name' | 'limit'>;
  /**
   * Changes a job if its version is still `version`; otherwise `stale`. `name`: another job has the name. `drops_waiting`: also removes its queued
   * instant.
   */
  changeJob(
    job: NewCronJob,
    version: number,
    next_at: number | null,
    at: number,
    drops_waiting?: boolean,
  ): Promise<'changed' | 'name' | 'stale'>;
  /** Resolves to false if there is no such job. Its runs stay in the run history. */
  removeJob(id: string): Promise<boolean>;
  /**
   * Jobs that need attention: those that are due, those planned by a clock more than a second ahead of `at` (it was set back), and those with a queued
   * instant and no run at work.
   */
  dueJobs(at: number, limit: number): Promise<(CronJob & { readonly waiting: CronFire | null })[]>;
  /** When the next job is due; null if none is planned. */
  nextDue(): Promise<number | null>;
  /** Records an instant with its run or event, or why it has none. For each instant exactly one caller gets an outcome other than `stale`. */
  fire(request: FireRequest): Promise<FireVerdict>;
  /** Sets when a job is due next without firing it. Resolves to false if the job was changed meanwhile. */
  replan(
    job_id: string,
    seen: { readonly version: number; readonly next_at: number | null },
    next_at: number | null,
    at: number,
  ): Promise<boolean>;
  /** Instants of a job, newest first. */
  fires(job_id: string, limit: number): Promise<CronFire[]>;
}
