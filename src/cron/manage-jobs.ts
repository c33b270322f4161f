import { randomUUID } from 'node:crypto';
import type { Limits } from '../records/agent/limits.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { CronJob, NewCronJob, Overlap, Schedule } from '../records/run/cron-job.ts';
import { checkedTargets } from '../records/run/delivery.ts';
import type { Store } from '../store/store.ts';
import { type CanAsk, fireJob } from './begin-run.ts';
import { checkedName, checkedTask, nameTaken, notStarted, refuseIgnored, timeoutOf } from './job-checks.ts';
import { nextInstant } from './schedule/next-instant.ts';
import { parseSchedule, type ScheduleInput } from './schedule/parse-schedule.ts';

/** Maximum tries of a manual fire: instants of the same millisecond collide, so each try is one millisecond later. */
const TRIES = 5;

/** Settings of a job besides its name and configuration; undefined: not given. */
export interface JobInput extends ScheduleInput {
  readonly task?: string | undefined;
  readonly session?: 'isolated' | 'main' | undefined;
  readonly deliver?: readonly string[] | undefined;
  readonly once?: boolean | undefined;
  /** `disable`: as `once`, and the conversation is kept. */
  readonly cleanup?: 'delete' | 'keep' | 'disable' | undefined;
  readonly overlap?: Overlap | undefined;
  /** Time limit of a run; 0: none of its own. */
  readonly timeout_s?: number | undefined;
}

/** The owner of a job, and the configuration of its runs. */
export type JobOrigin = Pick<NewCronJob, 'root_id' | 'created_by' | 'config' | 'limits' | 'placement'> & {
  /** Uuid of the job, by which adding is idempotent; default: a new one. */
  readonly id?: string;
};

export interface JobBounds {
  /** Minimum interval between instants. */
  readonly least_ms: number;
  /** Maximum enabled jobs of one tree. */
  readonly most: number;
}

export interface CronJobsOptions {
  readonly store: Store;
  readonly canAsk: CanAsk;
  /** IANA time zone to use if none is given. */
  readonly default_tz: string;
  /** Returns what is wrong with a delivery target; null if it is valid. */
  readonly checkTarget: (target: string) => string | null;
  /** Additional limits, for jobs that models create. */
  readonly bounds?: JobBounds;
  /** Called with a sentence about a wall time that does not exist or occurs twice. */
  readonly note?: (text: string) => void;
}

/** Adds, changes, finds and fires scheduled jobs, for people and agents. Methods reject with a `CoppiceError`. */
export class CronJobs {
  readonly #options: CronJobsOptions;

  constructor(options: CronJobsOptions) {
    this.#options = options;
  }

  async add(name: string, input: JobInput, origin: JobOrigin): Promise<CronJob> {
    const { store } = this.#options;
    const now = await store.now();
    const wished = this.#wished(name, input, now);
    const job: NewCronJob = { ...wished, ...origin, id: origin.id ?? wished.id };
    refuseIgnored(job);
    const entered = { ...job, limits: this.#limits(job) };
    const made = await store.createJob(entered, nextInstant(job.schedule, now), this.#options.bounds?.most);
    if (made === 'name') throw nameTaken(job.name);
    if (made === 'limit') throw this.#tooMany();
    return this.find(job.id);
  }

  /** Rejects as `add` would for this name and input; does not check what depends on the origin or on other jobs. */
  async check(name: string, input: JobInput): Promise<void> {
    this.#wished(name, input, await this.#options.store.now(), () => undefined);
  }

  #wished(
    name: string,
    input: JobInput,
    now: number,
    note = this.#options.note,
  ): Omit<NewCronJob, Exclude<keyof JobOrigin, 'id'>> {
    const schedule = this.#schedule(input, now, note);
    return {
      id: randomUUID(),
      name: checkedName(name),
      schedule,
      task: checkedTask(input.task),
      session: input.session ?? 'isolated',
      timeout_ms: timeoutOf(input.timeout_s ?? 0),
      deliver: checkedTargets(input.deliver ?? [], this.#options.checkTarget),
      once: schedule.type === 'at' || input.once === true || input.cleanup === 'disable',
      cleanup: input.cleanup === 'delete' ? 'delete' : 'keep',
      overlap: input.overlap ?? 'skip',
      enabled: true,
      created_at: now,
    };
  }

  /** Finds a job by name, id or unique prefix; with `root_id`, only among the jobs of that tree. */
  async find(text: string, root_id?: string): Promise<CronJob> {
    const all = await this.#options.store.findJobs(text);
    const found = root_id === undefined ? all : all.filter((job) => job.root_id === root_id);
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    if (only === undefined)
      throw new CoppiceError('E_JOB_NOT_FOUND', `no scheduled job "${text}"`, {
        hint: 'See: coppice cron list',
      });
    throw new CoppiceError('E_JOB_AMBIGUOUS', `"${text}" matches ${found.length} scheduled jobs`, {
      hint: `${found.map(({ id, name }) => `${name} (${id.slice(0, 8)})`).join('\n')}\nUse the name or a longer id.`,
    });
  }

  /** Changes the given settings; `config` replaces the configuration of the job's runs. */
  async change(
    job: CronJob,
    input: JobInput & { readonly name?: string | undefined },
    config = job.config,
  ): Promise<CronJob> {
    const { store } = this.#options;
    const now = await store.now();
    const timed = [input.cron, input.every, input.at].some((value) => value !== undefined);
    const moved = timed ? this.#schedule(input, now) : this.#changeZone(job.schedule, input.tz, now);
    const once = input.once ?? (input.cleanup === 'disable' || (timed ? false : job.once));
    const { version, next_at: _, planned_at: __, updated_at: ___, ...kept } = job;
    const changed: NewCronJob = {
      ...kept,
      config,
      name: input.name === undefined ? job.name : checkedName(input.name),
      schedule: moved,
      task: input.task === undefined ? job.task : checkedTask(input.task),
      session: input.session ?? job.session,
      timeout_ms: input.timeout_s === undefined ? job.timeout_ms : timeoutOf(input.timeout_s),
      deliver:
        input.deliver === undefined ? job.deliver : checkedTargets(input.deliver, this.#options.checkTarget),
      once: moved.type === 'at' || once,
      cleanup: input.cleanup === undefined ? job.cleanup : input.cleanup === 'delete' ? 'delete' : 'keep',
      overlap: input.overlap ?? job.overlap,
      enabled: job.enabled || timed,
    };
    refuseIgnored(changed);
    if (changed.enabled && !job.enabled) await this.#refuseOneMore(changed);
    // A time that was missed and is still to be made up for stays due, unless the clock was set back since it was planned.
    const same_times = !timed && input.tz === undefined && job.enabled && job.planned_at <= now;
    return this.#put({ ...changed, limits: this.#limits(changed) }, version, now, {
      ...(same_times && { next_at: job.next_at }),
    });
  }

  /** Disabling also drops an instant that waits for the end of a run. */
  async enable(job: CronJob, enabled: boolean): Promise<CronJob> {
    if (enabled && job.enabled) return job;
    const now = await this.#options.store.now();
    if (enabled && nextInstant(job.schedule, now) === null)
      throw new CoppiceError('E_INVALID_ARGUMENT', `the time of ${job.name} has passed`, {
        hint: `Give it a new one: coppice cron update ${job.name} --at +5m`,
      });
    if (enabled) await this.#refuseOneMore(job);
    const { version, next_at: _, planned_at: __, updated_at: ___, ...kept } = job;
    return this.#put({ ...kept, enabled }, version, now, { drops_waiting: !enabled });
  }

  /** Limits of the job's runs. A timeout raises the time limit; that of a model's job must stay within the limit of its tree. */
  #limits({ limits, timeout_ms }: NewCronJob): Limits {
    if (timeout_ms === null || timeout_ms <= limits.run_ms) return limits;
    if (this.#options.bounds === undefined) return { ...limits, run_ms: timeout_ms };
    throw new CoppiceError('E_REFUSED', `a run of this tree may take ${limits.run_ms / 1000} s at most`, {
      hint: 'Choose a shorter timeout, or leave it out',
    });
  }

  async #refuseOneMore({ root_id }: NewCronJob): Promise<void> {
    const { bounds, store } = this.#options;
    if (bounds === undefined || root_id === null) return;
    const enabled = (await store.jobs({ root_id })).filter((one) => one.enabled);
    if (enabled.length >= bounds.most) throw this.#tooMany();
  }

  #tooMany(): CoppiceError {
    const most = this.#options.bounds?.most;
    return new CoppiceError(
      'E_REFUSED',
      `this tree already has ${most} enabled scheduled jobs, the maximum`,
      {
        hint: 'Remove or disable one first',
      },
    );
  }

  async #put(
    job: NewCronJob,
    version: number,
    now: number,
    {
      next_at = job.enabled ? nextInstant(job.schedule, now) : null,
      drops_waiting = false,
    }: { readonly next_at?: number | null; readonly drops_waiting?: boolean },
  ): Promise<CronJob> {
    const done = await this.#options.store.changeJob(job, version, next_at, now, drops_waiting);
    if (done === 'name') throw nameTaken(job.name);
    if (done === 'stale')
      throw new CoppiceError(
        'E_REFUSED',
        `${job.name} was changed or removed at the same moment; nothing was changed`,
        {
          hint: 'Look at it and try again: coppice cron show',
          retryable: true,
        },
      );
    return this.find(job.id);
  }

  remove(job: CronJob): Promise<boolean> {
    return this.#options.store.removeJob(job.id);
  }

  /** Fires the job now, in addition to its schedule, under the same overlap policy. */
  async fire(
    job: CronJob,
  ): Promise<{ readonly outcome: 'fired' | 'queued'; readonly root_id: string | null }> {
    const { store } = this.#options;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const now = (await store.now()) + tries;
      const fired = await fireJob(this.#options, job, now, { instant: now, manual: true });
      const { outcome, root_id } = fired;
      if (outcome === 'skipped') throw notStarted(job);
      if (outcome === 'stale') continue;
      return { outcome, root_id: outcome === 'fired' ? root_id : null };
    }
    throw new CoppiceError('E_JOB_NOT_FOUND', `${job.name} was removed`);
  }

  #schedule(input: ScheduleInput, now: number, note = this.#options.note): Schedule {
    const { default_tz, bounds } = this.#options;
    const least_ms = bounds?.least_ms;
    const schedule = parseSchedule({ ...input, now, default_tz, ...(note === undefined ? {} : { note }) });
    if (least_ms === undefined || schedule.type === 'at') return schedule;
    const first = nextInstant(schedule, now);
    const second = first === null ? null : nextInstant(schedule, first);
    if (first !== null && second !== null && second - first < least_ms)
      throw new CoppiceError('E_REFUSED', `a job may not run more often than every ${least_ms / 1000} s`, {
        hint: 'Choose a longer time, for example every 10m',
      });
    return schedule;
  }

  #changeZone(schedule: Schedule, tz: string | undefined, now: number): Schedule {
    if (tz === undefined) return schedule;
    if (schedule.type === 'cron') return this.#schedule({ cron: schedule.expression, tz }, now);
    throw new CoppiceError('E_USAGE', 'a time zone needs a cron expression', {
      hint: 'Give both, for example cron "0 9 * * 1-5" and tz Europe/Berlin',
    });
  }
}
