/** A period in which the zone has a constant offset from UTC: `[start, end)`, milliseconds since the epoch. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  /** Milliseconds to add to UTC to get the wall clock. */
  readonly offset: number;
}

const PROBE_MS = 24 * 3_600_000;

/** All stretches of [from, until], found by probing Intl once a day and bisecting to each change. */
export function stretches(tz: string, from: number, until: number): Stretch[] {
  const offsetAt = offsets(tz);
  const found: Stretch[] = [];
  let start = from;
  let offset = offsetAt(from);
  for (let at = from; at < until; at += PROBE_MS) {
    const probe = Math.min(at + PROBE_MS, until);
    if (offsetAt(probe) === offset) continue;
    let [same, changed] = [at, probe];
    while (changed - same > 1000) {
      const middle = Math.floor((same + changed) / 2000) * 1000;
      if (offsetAt(middle) === offset) same = middle;
      else changed = middle;
    }
    found.push({ start, end: changed, offset });
    start = changed;
    offset = offsetAt(changed);
  }
  return [...found, { start, end: until + 1, offset }];
}

function offsets(tz: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: tz, timeZoneName: 'longOffset' });
  return (at) => {
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(at));
    if (match === null) throw new Error(`no offset in "${format.format(at)}"`);
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
    return (sign === '-' ? -1 : 1) * (+hours * 3600 + +minutes * 60 + +seconds) * 1000;
  };
}
