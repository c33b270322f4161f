import { keptIn } from '../../records/kept-in.ts';

const SECOND = 1000;
/** Longer than any zone's offset from UTC, and shorter than the time between two changes of one zone. */
const DAY = 86_400_000;
const KEPT_ZONES = 50;
const KEPT_DAYS = 10_000;

/** Offsets of a zone on one UTC day, in which no zone changes twice. Before the instant `change` the offset is `before`, from then on `after`. */
interface ZoneDay {
  readonly before: number;
  readonly change: number;
  readonly after: number;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly days: Map<number, ZoneDay>;
}

const zones = new Map<string, Zone>();

/** The offset of `tz` from UTC at this instant, milliseconds. Throws a `RangeError` for an unknown zone. */
export function offsetAt(tz: string, at: number): number {
  const zone = zoneOf(tz);
  const day = Math.floor(at / DAY);
  const known = keptIn(zone.days, day, () => {
    if (zone.days.size >= KEPT_DAYS) zone.days.clear();
    return readDay(zone.format, day * DAY);
  });
  return at < known.change ? known.before : known.after;
}

/** The first whole second of (from, until] whose offset differs from that at `from`. Expects exactly one change between them. */
export function offsetChange(tz: string, from: number, until: number): number {
  const offset = offsetAt(tz, from);
  return firstOther(from, until, (at) => offsetAt(tz, at) !== offset);
}

function readDay(format: Intl.DateTimeFormat, start: number): ZoneDay {
  const [before, after] = [readOffset(format, start), readOffset(format, start + DAY)];
  if (before === after) return { before, change: start, after };
  return { before, change: firstOther(start, start + DAY, (at) => readOffset(format, at) !== before), after };
}

/** Binary search for the first whole second of (from, until] for which `isOther` holds; expects it to hold from there on. */
function firstOther(from: number, until: number, isOther: (at: number) => boolean): number {
  let [same, other] = [Math.floor(from / SECOND), Math.ceil(until / SECOND)];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (isOther(middle * SECOND)) other = middle;
    else same = middle;
  }
  return other * SECOND;
}

function readOffset(format: Intl.DateTimeFormat, at: number): number {
  const [month, day, year, hour, minute, second] = (format.format(at).match(/\d+/g) ?? []).map(Number);
  const wall = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second);
  return wall - Math.floor(at / SECOND) * SECOND;
}

function zoneOf(tz: string): Zone {
  return keptIn(zones, tz, () => {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: tz,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (zones.size >= KEPT_ZONES) zones.clear();
    return { format, days: new Map<number, ZoneDay>() };
  });
}

/** The instants of a wall time. */
export type ResolvedWall =
  | { readonly type: 'once'; readonly at: number }
  /** The clock is set back over this wall time. */
  | { readonly type: 'twice'; readonly at: number; readonly again: number }
  /** The clock is set forward over this wall time; `at` is the first instant after the gap. */
  | { readonly type: 'gap'; readonly at: number };

/** Resolves `wall`, the fields of the clock interpreted as UTC, in milliseconds. Monotonic: a later `wall` never gives an earlier `at`. */
export function resolveWall(tz: string, wall: number): ResolvedWall {
  const before = offsetAt(tz, wall - DAY);
  const after = offsetAt(tz, wall + DAY);
  if (before === after) return { type: 'once', at: wall - before };
  const [at, again] = [wall - before, wall - after].filter((one) => one + offsetAt(tz, one) === wall);
  if (at === undefined) return { type: 'gap', at: offsetChange(tz, wall - after, wall - before) };
  return again === undefined ? { type: 'once', at } : { type: 'twice', at, again };
}
