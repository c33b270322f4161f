import * as z from 'zod';
import { jsonIn } from '../../records/text/json-text.ts';

/** Google puts the wait into the details of the error (`google.rpc.RetryInfo`). */
const retryInfo = z.object({
  error: z.object({
    details: z.array(z.looseObject({ '@type': z.string().optional(), retryDelay: z.string().optional() })),
  }),
});

/** The wait that a provider requests, milliseconds from `now`: from `retry-after-ms`, `Retry-After` in seconds or as a date, or the body. Null if none. */
export function retryAfter(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
  body = '',
): number | null {
  const ms = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(ms) && ms >= 0) return ms;
  const value = headers['retry-after'];
  if (value === undefined || value.trim() === '') return retryDelay(body);
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(seconds, 0) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? retryDelay(body) : Math.max(date - now, 0);
}

function retryDelay(body: string): number | null {
  // Some Google endpoints wrap the error in a list.
  const said = retryInfo.safeParse([jsonIn(body)].flat()[0]).data;
  const info = said?.error.details.find((one) => one['@type']?.endsWith('google.rpc.RetryInfo') === true);
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(info?.retryDelay ?? '')?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1000);
}
