import { realpathSync } from 'node:fs';
import { orElse } from '../../records/coppice-error.ts';
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

/** The IANA zone of this machine; where `TZ` names a file (`:/etc/localtime`) or an offset (`UTC+5`), which V8 has no name for, what they stand for. */
export function localZone(known = zoneName(), tz = process.env.TZ ?? ''): string {
  if (known !== null) return known;
  const file = orElse(() => realpathSync(tz.replace(/^:/, '')), '');
  const named = /\/zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(file)?.[1];
  if (named !== undefined && orElse(() => zoneName(named), null) !== null) return named;
  const west = new Date().getTimezoneOffset() / 60;
  return west !== 0 && Number.isInteger(west) ? `Etc/GMT${west > 0 ? '+' : ''}${west}` : 'UTC';
}

/** V8's name of the zone, by default of the one that it uses; null where it has none. */
function zoneName(timeZone?: string): string | null {
  const found: string | undefined = new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  return found === undefined || found === 'Etc/Unknown' ? null : found;
}
