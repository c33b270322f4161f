const SECOND = 1000;
const KEPT = 1000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** What is added to UTC to get the time that clocks in `tz` show at this instant, milliseconds. Throws a `RangeError` for an unknown zone. */
export function offsetAt(tz: string, at: number): number {
  const [month, day, year, hour, minute, second] = (format(tz).format(at).match(/\d+/g) ?? []).map(Number);
  const wall = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second);
  return wall - Math.floor(at / SECOND) * SECOND;
}

/** The first whole second of (from, until] in which the offset is not that of `from` any more. Expects exactly one change between them. */
export function offsetChange(tz: string, from: number, until: number): number {
  const offset = offsetAt(tz, from);
  let [same, changed] = [Math.floor(from / SECOND), Math.ceil(until / SECOND)];
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2);
    if (offsetAt(tz, middle * SECOND) === offset) same = middle;
    else changed = middle;
  }
  return changed * SECOND;
}

function format(tz: string): Intl.DateTimeFormat {
  const known = formats.get(tz);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: tz,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formats.size >= KEPT) formats.clear();
  formats.set(tz, made);
  return made;
}
