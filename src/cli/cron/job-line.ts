import { describeSchedule, instantText } from '../../cron/schedule/describe-schedule.ts';
import type { CronJob } from '../../records/run/cron-job.ts';
import { clean } from '../../render/clean.ts';
import { localZone } from './local-zone.ts';

/** `nightly: 0 9 * * 1-5 Europe/Berlin, next 2026-11-23 09:00 Europe/Berlin (08:00Z)`. */
export function jobLine(job: CronJob): string {
  return `${clean(job.name)}: ${describeSchedule(job.schedule, localZone())}, ${nextText(job)}`;
}

export function nextText({ enabled, next_at, schedule }: CronJob): string {
  if (!enabled) return 'disabled';
  if (next_at === null) return 'never again';
  return `next ${instantText(next_at, schedule.type === 'cron' ? schedule.tz : localZone())}`;
}
