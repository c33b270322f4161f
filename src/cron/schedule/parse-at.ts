import { CoppiceError } from '../../records/coppice-error.ts';
import { instantText, wallText } from './describe-schedule.ts';
import { type AtText, readAt } from './read-at.ts';
import { resolveWall } from './resolve-wall.ts';
import { offsetAt } from './zone-offset.ts';

const DAY = 86_400_000;
const NINE = 9 * 3_600_000;
const TEN_MINUTES = 600_000;
/** The end of the years that are written with four digits, in every zone. */
const LATEST = Date.UTC(9999, 11, 30);

type Note = (text: string) => void;

/** The instant that is meant, after `now`. `note` is told about wall times in gaps and repeated hours. Throws `E_INVALID_ARGUMENT`. */
export function parseAt(text: string, tz: string, now: number, note: Note = () => {}): number {
  const words = text.trim();
  const read = readAt(words);
  const refuse = (what: string, hint: string, near: number | null): CoppiceError =>
    new CoppiceError('E_INVALID_ARGUMENT', `at "${text}" ${what}`, {
      hint: `${hint}. ${words.startsWith('+') ? spanExample(tz, now) : dateExample(near, tz, now)}`,
    });
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
      // Two days: past in every zone. So long ago there may have been none.
      return read.wall <= now - 2 * DAY ? read.wall : instantOf(read.wall, tz, now, note);
    case 'clock':
      return instantOf(nextClock(read.time, tz, now), tz, now, note);
  }
}

/** In a gap: the first moment after it. Twice: the first of the two that is still to come. */
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

/** The next wall time with the time of day of `time` that is still to come. */
function nextClock(time: number, tz: string, now: number): number {
  const midnight = Math.floor((now + offsetAt(tz, now)) / DAY) * DAY;
  const today = midnight + (((time % DAY) + DAY) % DAY);
  const resolved = resolveWall(tz, today);
  const last = resolved.type === 'twice' ? resolved.again : resolved.at;
  return last > now ? today : today + DAY;
}

function dateExample(near: number | null, tz: string, now: number): string {
  const ahead = near !== null && resolveWall(tz, near).at > now ? near : nextClock(near ?? NINE, tz, now);
  const { at } = resolveWall(tz, ahead);
  return `For example "${wallText(at, tz)}": due ${instantText(at, tz)}`;
}

function spanExample(tz: string, now: number): string {
  return `For example "+10m": due ${instantText(now + TEN_MINUTES, tz)}`;
}
