/** This folder parses the schedules that people write, and computes in time zones when they are due. */

import type { Schedule } from '../../records/run/cron-job.ts';
import { type CronExpression, cronExpression } from './cron-expression.ts';
import { offsetAt, offsetChange, resolveWall } from './wall-clock.ts';

const DAY = 86_400_000;

/** Upper bound of a count: a count of this value means "or more". */
export const COUNT_CAP = 10_000;

/**
 * When schedules are due. Instants are milliseconds since the epoch; no clock is read. Daylight saving (docs/cron-times.md):
 * D1 explicit hours: a wall time that occurs twice is due the first time only; wall times in a gap are due once, right after it.
 * D2 hours with a wildcard or a step: due at each real instant whose wall time matches, so twice in a repeated hour and never in a gap.
 */

/** The first instant after `after`; null if there is none. Throws `E_INVALID_ARGUMENT` for an invalid expression or zone. */
export function nextInstant(schedule: Schedule, after: number): number | null {
  if (schedule.type === 'at') return schedule.at > after ? schedule.at : null;
  if (schedule.type === 'every') return schedule.anchor + (ticks(schedule, after) + 1) * schedule.every_ms;
  const { tz } = schedule;
  const expression = cronExpression(schedule.expression, tz);
  return expression.fixed ? nextFixed(expression, tz, after) : nextReal(expression, tz, after);
}

/** Returns the newest instant in (from, until], always exact, and the number of instants in it, at most `COUNT_CAP`. Throws like `nextInstant`. */
export function dueInstants(
  schedule: Schedule,
  from: number,
  until: number,
): { newest: number | null; count: number } {
  const newest = newestInstant(schedule, until);
  if (newest === null || newest <= from) return { newest: null, count: 0 };
  if (schedule.type === 'every') {
    const count = ticks(schedule, until) - ticks(schedule, from);
    return { newest, count: Math.min(count, COUNT_CAP) };
  }
  let count = 1;
  let at = nextInstant(schedule, from);
  while (at !== null && at < newest && count < COUNT_CAP) {
    count += 1;
    at = nextInstant(schedule, at);
  }
  return { newest, count };
}

function newestInstant(schedule: Schedule, until: number): number | null {
  if (schedule.type === 'at') return schedule.at <= until ? schedule.at : null;
  if (schedule.type === 'every') {
    const passed = ticks(schedule, until);
    return passed === 0 ? null : schedule.anchor + passed * schedule.every_ms;
  }
  const { tz } = schedule;
  const { fixed, wall, zoned } = cronExpression(schedule.expression, tz);
  if (!fixed) return lastBy(zoned, until);
  const newest = lastBy(wall, passedWall(tz, until));
  return newest === null ? null : resolveWall(tz, newest).at;
}

/** Number of instants of an `every` schedule at or before `at`. */
function ticks(schedule: Extract<Schedule, { type: 'every' }>, at: number): number {
  return Math.max(0, Math.floor((at - schedule.anchor) / schedule.every_ms));
}

/** D1 */
function nextFixed({ wall }: CronExpression, tz: string, after: number): number | null {
  const next = firstAfter(wall, passedWall(tz, after));
  return next === null ? null : resolveWall(tz, next).at;
}

/** D2. While the offset stays the same, wall time suffices, at a tenth of the cost of zoned time. */
function nextReal({ wall, zoned }: CronExpression, tz: string, after: number): number | null {
  const offset = offsetAt(tz, after);
  const next = firstAfter(wall, after + offset);
  if (next === null) return null;
  const at = next - offset;
  return at - after < DAY && offsetAt(tz, at) === offset ? at : firstAfter(zoned, after);
}

/** The latest wall time that clocks in `tz` have shown by this instant: in a repeated hour, the end of its first pass. */
function passedWall(tz: string, at: number): number {
  const [before, now] = [offsetAt(tz, at - DAY), offsetAt(tz, at)];
  if (before <= now) return at + now;
  return Math.max(at + now, offsetChange(tz, at - DAY, at) + before - 1);
}

function firstAfter(cron: CronExpression['wall'], at: number): number | null {
  return cron.nextRun(new Date(at))?.getTime() ?? null;
}

function lastBy(cron: CronExpression['wall'], at: number): number | null {
  return cron.previousRuns(1, new Date(at + 1))[0]?.getTime() ?? null;
}
