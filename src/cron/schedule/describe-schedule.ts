import type { Schedule } from '../../records/run/cron-job.ts';
import { durationText } from '../../records/text/parse-duration.ts';
import { offsetAt } from './wall-clock.ts';

/** Describes a schedule for people: `0 9 * * 1-5 Europe/Berlin`, `every 10m`, `at 2026-11-23 09:00 Europe/Berlin`. `tz` applies to `at`. */
export function describeSchedule(schedule: Schedule, tz: string): string {
  if (schedule.type === 'cron') return `${schedule.expression} ${schedule.tz}`;
  if (schedule.type === 'every') return `every ${durationText(schedule.every_ms)}`;
  return `at ${wallText(schedule.at, tz)} ${tz}`;
}

/** `2026-11-23 09:00 Europe/Berlin (08:00Z)`; includes the UTC date if it differs. */
export function instantText(at: number, tz: string): string {
  const [wall, utc] = [wallText(at, tz), wallText(at, 'UTC')];
  if (tz === 'UTC') return `${wall} UTC`;
  const [date, time] = utc.split(' ');
  return `${wall} ${tz} (${wall.startsWith(`${date} `) ? time : utc}Z)`;
}

/** `2026-11-23 09:00`, with seconds only if they are not zero. */
export function wallText(at: number, tz: string): string {
  const text = new Date(at + offsetAt(tz, at)).toISOString().replace('T', ' ');
  return text.slice(0, text.slice(16, 19) === ':00' ? 16 : 19);
}

/** The IANA zone of this machine. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
