import { parseDuration } from '../../records/text/parse-duration.ts';

/** A longer wait is a fault of the server: it counts as none, and the server is tried. */
const MOST_MS = 366 * 86_400_000;

/**
 * The wait that a provider requests, whole milliseconds from `now`: from `retry-after-ms`, `Retry-After` in seconds or as a date, a field of the body, or its
 * text. Null if none.
 */
export function retryAfter(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
  body = '',
): number | null {
  return possible(headerWait(headers, now) ?? waitIn(body, now));
}

function possible(wait: number | null): number | null {
  return wait === null || !(wait <= MOST_MS) ? null : Math.ceil(wait);
}

function headerWait(headers: Readonly<Record<string, string | undefined>>, now: number): number | null {
  const ms = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(ms) && ms >= 0) return ms;
  const value = headers['retry-after'];
  if (value === undefined || value.trim() === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(seconds, 0) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(date - now, 0);
}

/** The wait that a refusal names in its body or text. */
export function waitIn(said: string, now: number): number | null {
  const until = instantIn(said);
  return possible(delayIn(said) ?? spanIn(said) ?? (until !== null && until > now ? until - now : null));
}

/** `"retryDelay": "26s"`, which only Google's `google.rpc.RetryInfo` has. */
function delayIn(said: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(said)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** `"resets_in_seconds": 4032`, `try again in 1h23m4.5s`. */
function spanIn(said: string): number | null {
  const seconds = /resets_in_seconds\W{1,5}(\d+)/.exec(said)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1000;
  const [, span] =
    /\b(?:again|retry|resets?)\s+in\s+((?:\d+(?:\.\d+)?\s?(?:ms|[smhd])\s?)+)/i.exec(said) ?? [];
  return parseDuration(span?.replaceAll(/\s/g, '').toLowerCase() ?? '');
}

/** `"resets_at": 1764311400`, `X-RateLimit-Reset` in milliseconds, `limit reached|1764311400`, `access on 2025-07-01 at 00:00 UTC`. */
function instantIn(said: string): number | null {
  const [, epoch] =
    /(?:resets?_at|ratelimit-reset)\W{1,5}(\d{13}|\d{10})\b|reached\|(\d{10})\b/i
      .exec(said)
      ?.filter(Boolean) ?? [];
  if (epoch !== undefined) return Number(epoch) * (epoch.length === 10 ? 1000 : 1);
  const [, day, time, zone = 'Z'] =
    /\b(?:access|again|until|resets?|reset_at)\b\D{1,12}(\d{4}-\d\d-\d\d)(?:T| at | )(\d\d:\d\d(?::\d\d)?)[.\d]*\s?(Z|[+-]\d\d:\d\d)?/i.exec(
      said,
    ) ?? [];
  return day === undefined ? null : Date.parse(`${day}T${time}${zone}`);
}
