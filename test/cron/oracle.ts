import type { Fields } from './oracle-fields.ts';
import type { Stretch } from './oracle-zone.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Returns every instant of an expression in (from, until], by checking each time that a wall clock shows.
 *
 * The policy, stated independently of the library:
 * - Away from clock changes, an instant is due when its wall time matches.
 * - Fixed hours (written out): of a repeated wall time only the first is due; skipped wall times are due
 *   together, once, at the moment of the clock change.
 * - Hours by wildcard or step: due whenever the wall clock shows a matching time, however often that is.
 */
export function oracle(fields: Fields, zone: readonly Stretch[], from: number, until: number): number[] {
  return zone.flatMap((stretch, index) => {
    if (stretch.end <= from || stretch.start > until) return [];
    const { offset } = stretch;
    const before = zone[index - 1]?.offset ?? offset;
    const jump = offset - before;
    const repeated = fields.fixed && jump < 0 ? stretch.start - jump : stretch.start;
    const [first, last] = [Math.max(repeated, from + 1), Math.min(stretch.end - 1, until)];
    const due = walls(fields, first + offset, last + offset).map((wall) => wall - offset);
    const skipped = fields.fixed && jump > 0 && stretch.start > from;
    const late = skipped ? walls(fields, stretch.start + before, stretch.start + offset - 1) : [];
    return late.length > 0 && due[0] !== stretch.start ? [stretch.start, ...due] : due;
  });
}

/** Returns the matching wall times in [first, last], day by day. */
function walls(fields: Fields, first: number, last: number): number[] {
  const matching = (count: number, test: (value: number) => boolean): number[] =>
    [...Array(count).keys()].filter(test);
  const [hours, minutes] = [matching(24, fields.hour), matching(60, fields.minute)];
  const seconds = matching(60, fields.second);
  const found: number[] = [];
  for (let midnight = Math.floor(first / DAY) * DAY; midnight <= last; midnight += DAY) {
    const date = new Date(midnight);
    if (!fields.day(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())) continue;
    for (const hour of hours) {
      const start = midnight + hour * HOUR;
      if (start + HOUR <= first || start > last) continue;
      for (const minute of minutes) {
        for (const second of seconds) {
          const wall = start + minute * MINUTE + second * SECOND;
          if (wall >= first && wall <= last) found.push(wall);
        }
      }
    }
  }
  return found;
}
