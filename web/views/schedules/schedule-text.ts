import type { JobDocument } from '../../../src/documents/shapes/document-parts.ts';
import { dateOf, duration } from '../../data/amounts.ts';

/** Text that says when a job fires. */
export function scheduleText(schedule: JobDocument['schedule']): string {
  switch (schedule.type) {
    case 'cron':
      return `${schedule.expression} · ${schedule.tz}`;
    case 'every':
      return `every ${duration(schedule.every_seconds * 1_000).replace(/\.0s$/, 's')}`;
    case 'at':
      return `once at ${dateOf(new Date(schedule.at))}`;
  }
}

/** A time as local time, and how far away it is. */
export function clock(iso: string): string {
  const ms = Date.parse(iso) - Date.now();
  const away = ms > 0 ? `in ${duration(ms)}` : `${duration(-ms)} ago`;
  return `${dateOf(new Date(iso))} (${away})`;
}
