/** A clock that is as far off takes no notice: answers are on their way for a while, and tell whole seconds. */
const SAME_MS = 30_000;

let ahead_ms = 0;

/** Takes the time from an answer of the server. */
export function hearTime({ headers }: Response): void {
  const off = Date.parse(headers.get('date') ?? '') - Date.now();
  if (!Number.isNaN(off)) ahead_ms = Math.abs(off) < SAME_MS ? 0 : off;
}

/** The time by the clock of the server, from which all times that it tells are: that of the browser may be another. */
export function serverNow(): number {
  return Date.now() + ahead_ms;
}
