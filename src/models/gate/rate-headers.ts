import { parseDuration } from '../../records/text/parse-duration.ts';
import type { ModelRequest } from '../model.ts';

/** What limits are counted in. `tokens`: input and output together. */
export type LimitKind = 'requests' | 'tokens' | 'input tokens' | 'output tokens';

/** One limit of a provider, as an answer states it. */
export interface ToldLimit {
  readonly kind: LimitKind;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until all of it is there again; null if not stated. */
  readonly reset_ms: number | null;
  /** Whether the time is stated in whole seconds. */
  readonly is_coarse: boolean;
}

export type Headers = Parameters<NonNullable<ModelRequest['onHeaders']>>[1];

/** Names of the headers with the limit, what remains, and the time: OpenAI and servers like it, Anthropic, and those that count only requests. */
const NAMES: readonly (readonly [LimitKind, (what: 'limit' | 'remaining' | 'reset') => string])[] = [
  ['requests', (what) => `x-ratelimit-${what}-requests`],
  ['tokens', (what) => `x-ratelimit-${what}-tokens`],
  ['requests', (what) => `anthropic-ratelimit-requests-${what}`],
  ['tokens', (what) => `anthropic-ratelimit-tokens-${what}`],
  ['input tokens', (what) => `anthropic-ratelimit-input-tokens-${what}`],
  ['output tokens', (what) => `anthropic-ratelimit-output-tokens-${what}`],
  ['requests', (what) => `x-ratelimit-${what}`],
];
const HEADERS = NAMES.map(([kind, name]) => [kind, name('limit'), name('remaining'), name('reset')] as const);

/** The limits that headers state; those without a limit or a remainder are left out. `now`: milliseconds since the epoch. */
export function toldLimits(headers: Headers, now: number): readonly ToldLimit[] {
  return HEADERS.flatMap(([kind, limit, remaining, reset]) => {
    if (headers[limit] === undefined) return [];
    const [most, left] = [numberIn(headers[limit]), numberIn(headers[remaining])];
    if (most === null || left === null || most <= 0) return [];
    const when = String(headers[reset] ?? '').trim();
    const told = { kind, limit: most, remaining: left, reset_ms: untilReset(when, now) };
    return [{ ...told, is_coarse: !/\.|ms/.test(when) }];
  });
}

function numberIn(value: Headers[string]): number | null {
  const number = Number.parseFloat(String(value ?? ''));
  return Number.isFinite(number) && number >= 0 ? number : null;
}

/** A time as a duration (`6m0s`, `12ms`), in seconds, as seconds or milliseconds since the epoch, or as a date. */
function untilReset(text: string, now: number): number | null {
  const duration = parseDuration(text);
  if (duration !== null) return duration;
  const number = Number(text);
  if (text !== '' && Number.isFinite(number)) {
    const at = number > 1e11 ? number : number * 1_000;
    return Math.max(0, number > 1e9 ? at - now : at);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
