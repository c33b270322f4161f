import { describeSchedule, instantText } from '../../cron/schedule/describe-schedule.ts';
import type { CronJob } from '../../records/run/cron-job.ts';
import { clean } from '../../render/clean.ts';

/** The IANA zone of this machine. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The zone of a job's times for people. */
export function zoneOf({ schedule }: CronJob): string {
  return schedule.type === 'cron' ? schedule.tz : localZone();
}

/** `nightly: 0 9 * * 1-5 Europe/Berlin, next 2026-11-23 09:00 Europe/Berlin (08:00Z)`. */
export function jobLine(job: CronJob): string {
  const next = job.enabled && job.next_at !== null ? `next ${nextText(job)}` : nextText(job);
  return `${clean(job.name)}: ${describeSchedule(job.schedule, localZone())}, ${next}`;
}

export function nextText(job: CronJob): string {
  if (!job.enabled) return 'disabled';
  return job.next_at === null ? 'never again' : instantText(job.next_at, zoneOf(job));
}
