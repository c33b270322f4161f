/** `Retry-After` in seconds or as a date, or `retry-after-ms`; milliseconds from `now`. */
export function retryAfter(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
): number | null {
  const ms = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(ms) && ms >= 0) return ms;
  const value = headers['retry-after'];
  if (value === undefined || value.trim() === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(seconds, 0) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(date - now, 0);
}
