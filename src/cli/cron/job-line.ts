import { describeSchedule, instantText, localZone } from '../../cron/schedule/describe-schedule.ts';
import type { JobDocument } from '../../documents/shapes/document-parts.ts';
import type { Schedule } from '../../records/run/cron-job.ts';
import { clean } from '../../render/clean.ts';

/** Time zone in which a job's times are shown. */
export function zoneOf({ schedule }: JobDocument): string {
  return schedule.type === 'cron' ? schedule.tz : localZone();
}

export function scheduleText({ schedule }: JobDocument): string {
  return describeSchedule(known(schedule), localZone());
}

function known(schedule: JobDocument['schedule']): Schedule {
  if (schedule.type === 'every')
    return { type: 'every', every_ms: schedule.every_seconds * 1_000, anchor: 0 };
  return schedule.type === 'at' ? { type: 'at', at: Date.parse(schedule.at) } : schedule;
}

/** Formats a line such as `nightly: 0 9 * * 1-5 Europe/Berlin, next 2026-11-23 09:00 Europe/Berlin (08:00Z)`. */
export function jobLine(job: JobDocument): string {
  const next = job.enabled && job.next_at !== null ? `next ${nextText(job)}` : nextText(job);
  return `${clean(job.name)}: ${scheduleText(job)}, ${next}`;
}

export function nextText(job: JobDocument): string {
  if (!job.enabled) return 'disabled';
  return job.next_at === null ? 'never again' : instantText(Date.parse(job.next_at), zoneOf(job));
}
