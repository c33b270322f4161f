import { CoppiceError } from '../../records/coppice-error.ts';
import { readDuration } from '../../records/text/parse-duration.ts';
import { instantText, wallText } from './describe-schedule.ts';
import { offsetAt, resolveWall } from './wall-clock.ts';

const DAY = 86_400_000;
const NINE = 9 * 3_600_000;
const TEN_MINUTES = 600_000;
/** The last day whose year has four digits in every zone. */
const LATEST = Date.UTC(9999, 11, 30);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\s*(.+))?$/i;
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?$/i;
const FORMS = 'Write "YYYY-MM-DD HH:MM", ISO 8601, "HH:MM" or "+1h30m"';
const HOURS = 'Hours are 00-23, minutes and seconds 00-59';

/** A parsed text, before any zone or clock is consulted. A wall time is the fields of the clock interpreted as UTC, in milliseconds. */
type AtText =
  | { readonly type: 'span'; readonly span_ms: number }
  | { readonly type: 'instant'; readonly at: number }
  | { readonly type: 'wall'; readonly wall: number }
  /** Milliseconds since midnight. */
  | { readonly type: 'clock'; readonly time: number }
  /** `near`: a valid wall time to suggest. */
  | { readonly type: 'wrong'; readonly what: string; readonly hint: string; readonly near: number | null };

type Note = (text: string) => void;

/** Parses a text to an instant after `now`. `note` is called with a sentence about a wall time in a gap or a repeated hour. Throws `E_INVALID_ARGUMENT`. */
export function parseAt(text: string, tz: string, now: number, note: Note = () => {}): number {
  const words = text.trim();
  const read = readAt(words);
  const refuse = (what: string, hint: string, near: number | null): CoppiceError => {
    const [example, at] = words.startsWith('+') ? ['+10m', now + TEN_MINUTES] : dateExample(near, tz, now);
    return new CoppiceError('E_INVALID_ARGUMENT', `at "${text}" ${what}`, {
      hint: `${hint}. For example "${example}": due ${instantText(at, tz)}`,
    });
  };
  if (read.type === 'wrong') throw refuse(read.what, read.hint, read.near);
  const notes: string[] = [];
  const at = meant(read, tz, now, (said) => notes.push(said));
  if (at > LATEST) throw refuse('is too far ahead', 'The last year is 9999', null);
  if (at > now) {
    for (const said of notes) note(said);
    return at;
  }
  const wall = read.type === 'wall' ? read.wall : at + offsetAt(tz, at);
  const what = `is past: it is ${instantText(now, tz)}`;
  throw refuse(what, 'Write a time that is still to come', nextClock(wall, tz, now));
}

function meant(read: Exclude<AtText, { type: 'wrong' }>, tz: string, now: number, note: Note): number {
  switch (read.type) {
    case 'span':
      return now + read.span_ms;
    case 'instant':
      return read.at;
    case 'wall':
      // Two days ago is past in every zone, so the zone is not consulted: its data may not reach far back.
      return read.wall <= now - 2 * DAY ? read.wall : instantOf(read.wall, tz, now, note);
    case 'clock':
      return instantOf(nextClock(read.time, tz, now), tz, now, note);
  }
}

/** Returns the instant of a wall time. In a gap: the first instant after it. In a repeated hour: the first of the two that is after `now`. */
function instantOf(wall: number, tz: string, now: number, note: Note): number {
  const resolved = resolveWall(tz, wall);
  if (resolved.type === 'once') return resolved.at;
  const name = `${wallText(wall, 'UTC')} ${tz}`;
  if (resolved.type === 'gap') {
    note(`${name} does not exist, the clock is set forward over it: due ${instantText(resolved.at, tz)}`);
    return resolved.at;
  }
  const first = resolved.at > now;
  const at = first ? resolved.at : resolved.again;
  const which = first ? 'first' : 'second, the first is past';
  note(`${name} comes twice, the clock is set back over it: due the ${which}, ${instantText(at, tz)}`);
  return at;
}

/** The next future wall time with the time of day of `time`. */
function nextClock(time: number, tz: string, now: number): number {
  const midnight = Math.floor((now + offsetAt(tz, now)) / DAY) * DAY;
  const today = midnight + (((time % DAY) + DAY) % DAY);
  const resolved = resolveWall(tz, today);
  const last = resolved.type === 'twice' ? resolved.again : resolved.at;
  return last > now ? today : today + DAY;
}

function dateExample(near: number | null, tz: string, now: number): [example: string, at: number] {
  const ahead = near !== null && resolveWall(tz, near).at > now ? near : nextClock(near ?? NINE, tz, now);
  const { at } = resolveWall(tz, ahead);
  return [wallText(at, tz), at];
}

function readAt(text: string): AtText {
  const span_ms = readDuration(text.replace(/^(?:(?:now\s*)?\+|in\s)|\sfrom now$/i, ''));
  if (span_ms !== null) return { type: 'span', span_ms };
  if (text.startsWith('+')) return wrong('is not a valid time span', FORMS);
  const date = DATE.exec(text);
  const clock = readClock(date === null ? text : (date[4] ?? ''));
  if (date === null) {
    if (clock === null) return wrong('is not a valid time', FORMS);
    if (clock === 'outside') return wrong('is not a valid time of day', HOURS);
    return clock.offset === null ? { type: 'clock', time: clock.time } : wrong('has no date', FORMS);
  }
  if (date[4] === undefined) return wrong('has no time of day', FORMS);
  if (clock === null) return wrong('is not a valid time', FORMS);
  if (clock === 'outside') return wrong('is not a valid time of day', HOURS);
  const [year, month, day] = date.slice(1, 4).map(Number) as [number, number, number];
  const midnight = midnightOf(year, month - 1, day);
  if (new Date(midnight).getUTCDate() !== day || month < 1 || month > 12) {
    const near = month >= 1 && month <= 12 ? midnightOf(year, month, 1) + clock.time : null;
    return wrong('is not a valid date', 'Months are 01-12, days 01 to the last of the month', near);
  }
  const wall = midnight + clock.time;
  return clock.offset === null ? { type: 'wall', wall } : { type: 'instant', at: wall - clock.offset };
}

/** Returns null if the text does not have the form of a time of day, and `outside` if it is out of range. */
function readClock(text: string): { time: number; offset: number | null } | 'outside' | null {
  const match = CLOCK.exec(text);
  if (match === null) return null;
  const [, hour, minute, second = '0', fraction = '', utc, sign, hours = '0', minutes = '0'] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return 'outside';
  if (Number(hours) > 23 || Number(minutes) > 59) return 'outside';
  const time =
    Number(hour) * HOUR +
    Number(minute) * MINUTE +
    Number(second) * 1000 +
    Number(fraction.padEnd(3, '0').slice(0, 3));
  if (utc === undefined && sign === undefined) return { time, offset: null };
  return { time, offset: (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE) };
}

/** `month` counts from 0; unlike `Date.UTC`, does not map years below 100 to 19xx. */
function midnightOf(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

function wrong(what: string, hint: string, near: number | null = null): AtText {
  return { type: 'wrong', what, hint, near };
}
