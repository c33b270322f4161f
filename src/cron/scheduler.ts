/** This folder: scheduled jobs, when they are due (schedule/), firing them, and the tool for agents. */

import { Poll } from '../processes/poll.ts';
import type { Clock } from '../processes/waiting.ts';
import type { CronFire, CronJob } from '../records/run/cron-job.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { type CanAsk, fireJob } from './begin-run.ts';
import { dueInstants, nextInstant } from './schedule/next-instant.ts';

/** Poll interval for what no signal reports: jobs of other processes, a changed clock. */
const LOOK_MS = 1_000;
const MOST_AT_ONCE = 100;

export interface SchedulerOptions {
  readonly store: Store;
  readonly canAsk: CanAsk;
  /** Default: the database's clock. */
  readonly now?: () => Promise<number>;
  /** Clock for the waits between polls; default: the system's. */
  readonly clock?: Clock;
  /** Called when a run or event was entered that some process must lead. */
  readonly onFired: () => void;
  readonly onOutcome?: (job: CronJob, outcome: 'fired' | 'queued' | 'skipped', instant: number) => void;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Fires jobs that are due. Any number of processes may do so on one ledger:
 * F1. An instant is one row, unique per job and time; whoever inserts it fires it.
 * F2. The row, the run that it begins, and the next due time are one transaction.
 * F3. Instants that passed while no scheduler ran collapse into the newest.
 * F4. Setting a clock back fires nothing twice and loses nothing later.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #now: () => Promise<number>;
  readonly #poll: Poll;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => options.store.now());
    this.#poll = new Poll(() => this.#look(), options.clock);
  }

  /** Begins to poll; polls now if it has begun, because a run may have ended or a job may be new. */
  wake(): void {
    this.#poll.wake();
  }

  async #look(): Promise<number> {
    try {
      const now = await this.#now();
      if (!(await this.tick(now))) return LOOK_MS;
      const next = await this.#options.store.nextDue();
      return next === null ? LOOK_MS : Math.min(Math.max(next - (await this.#now()), 0), LOOK_MS);
    } catch (error) {
      this.#options.onTrouble(error);
      return LOOK_MS;
    }
  }

  /**
   * Fires everything that is due at `now`, milliseconds since the epoch. Resolves to false if a job could not be fired; it does not hold up the others, and
   * stays due.
   */
  async tick(now: number): Promise<boolean> {
    let [fired, all] = [false, true];
    for (const job of await this.#options.store.dueJobs(now, MOST_AT_ONCE)) {
      try {
        if (job.waiting !== null) fired = (await this.#fireWaiting(job, job.waiting, now)) || fired;
        else fired = (await this.#fireDue(job, now)) || fired;
      } catch (error) {
        if (error instanceof StoreError && error.retryable) throw error;
        this.#options.onTrouble(error);
        all = false;
      }
    }
    if (fired) this.#options.onFired();
    return all;
  }

  async #fireDue(job: CronJob, now: number): Promise<boolean> {
    const { schedule, next_at } = job;
    if (next_at === null) return false;
    const then_at = nextInstant(schedule, now);
    if (next_at > now) {
      await this.#options.store.replan(job.id, job, then_at, now);
      return false;
    }
    const { newest, count } = dueInstants(schedule, next_at - 1, now);
    return this.#fire(job, {
      instant: newest ?? next_at,
      ...{ manual: false, missed: Math.max(0, count - 1), then_at, disable: job.once, now },
    });
  }

  #fireWaiting(job: CronJob, { instant, manual, missed }: CronFire, now: number): Promise<boolean> {
    return this.#fire(job, { instant, manual, waited: true, missed, now });
  }

  async #fire(
    job: CronJob,
    { now, ...plan }: Omit<Parameters<typeof fireJob>[3], 'overlap'> & { readonly now: number },
  ): Promise<boolean> {
    // A one-time job must not be skipped because a manual run is under way.
    const overlap = job.once ? 'queue' : job.overlap;
    const { outcome } = await fireJob(this.#options, job, now, { ...plan, overlap });
    if (outcome === 'stale') return false;
    this.#options.onOutcome?.(job, outcome, plan.instant);
    return outcome === 'fired';
  }

  stop(): Promise<void> {
    return this.#poll.stop();
  }
}
