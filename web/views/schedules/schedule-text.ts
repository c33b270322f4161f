import type { JobDocument } from '../../../src/documents/shapes/document-parts.ts';
import { orElse } from '../../../src/records/coppice-error.ts';
import { dateOf, duration } from '../../data/amounts.ts';
import { serverNow } from '../../data/server-clock.ts';

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

/** When a job is due: in its own zone where clocks there show another time, in that of the browser, and how far away it is. */
export function clock(iso: string, schedule: JobDocument['schedule']): string {
  const ms = Date.parse(iso) - serverNow();
  const away = ms > 0 ? `in ${duration(ms)}` : `${duration(-ms)} ago`;
  const here = dateOf(new Date(iso));
  const tz = schedule.type === 'cron' ? schedule.tz : undefined;
  // A zone that this browser does not know stands beside it all the same, in the rule.
  const there = orElse(() => dateOf(new Date(iso), tz), here);
  return `${there === here ? '' : `${there} in ${tz}, here `}${here} (${away})`;
}
