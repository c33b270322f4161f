/** Webhooks: signed POSTs to endpoints of the configuration. */

import { createHmac } from 'node:crypto';
import { retryAfter } from '../../models/refusals/retry-after.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { clean } from '../../render/clean.ts';
import type { Channel, DeliverContext, DeliverResult, Parcel } from '../channel.ts';
import { deliveryJson } from '../parcel-json.ts';
import { unknownName } from '../unknown-name.ts';
import { type Endpoint, endpointOf } from './endpoint.ts';
import { type Posted, post } from './post.ts';

const TIME_LIMIT_MS = 10_000;

export interface WebhookOptions {
  /** Timeout of one try, the answer included; milliseconds, default 10 s. */
  readonly time_limit_ms?: number;
  /** The clock of signatures, milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/**
 * The channel `webhook`: an address is the name of an endpoint. Each parcel is one POST of `coppice/delivery/v1`, signed as Standard Webhooks
 * specify (docs/webhooks.md). Throws `E_CONFIG` for an endpoint that cannot be used.
 */
export function openWebhook(
  endpoints: Readonly<Record<string, { readonly url: string; readonly secret: string }>>,
  options: WebhookOptions = {},
): Channel {
  const { time_limit_ms = TIME_LIMIT_MS, now = Date.now } = options;
  const known = new Map(Object.entries(endpoints).map(([name, one]) => [name, endpointOf(name, one)]));
  const closing = new AbortController();
  const unknown = (address: string) => unknownName('webhook', address, [...known.keys()]);

  async function deliver(parcel: Parcel, { signal }: DeliverContext): Promise<DeliverResult> {
    const endpoint = known.get(parcel.address);
    if (endpoint === undefined) return { type: 'failed', error: unknown(parcel.address) };
    const late = AbortSignal.timeout(time_limit_ms);
    const stop = AbortSignal.any([signal, closing.signal, late]);
    try {
      const body = Buffer.from(deliveryJson(parcel), 'utf8');
      const posted = await post(endpoint.url, headersOf(endpoint, parcel.id, body, now()), body, stop);
      if (posted.type === 'answer') return answerResult(endpoint, posted, now());
      const error = brokenOff(endpoint, posted.reason, stop.aborted, late.aborted, time_limit_ms);
      return { type: 'retry', error, after_ms: null };
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      return { type: 'failed', error: `the delivery cannot be written as a request: ${code ?? name}` };
    }
  }

  return {
    name: 'webhook',
    check: (address) => (known.has(address) ? null : unknown(address)),
    deliver,
    close: async () => closing.abort(),
  };
}

function headersOf({ key }: Endpoint, id: string, body: Buffer, now: number): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': 'coppice',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${signature}`,
  };
}

function brokenOff(
  { name, url }: Endpoint,
  reason: string,
  stopped: boolean,
  late: boolean,
  time_limit_ms: number,
): string {
  if (late) return `the webhook "${name}" (${url.host}) did not answer within ${time_limit_ms / 1000} s`;
  if (stopped) return `the delivery to the webhook "${name}" was stopped before it was answered`;
  return `the webhook "${name}" (${url.host}) cannot be reached (${reason})`;
}

/** Status codes worth a retry, besides 5xx. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);
const GONE = 410;
/** Upper bound for the wait that `Retry-After` asks for. */
const RETRY_AFTER_MAX_MS = 60 * 60 * 1000;
const TEXT_MAX = 200;

/** Maps the answer of a webhook to a result. Errors name the webhook, not its URL, and quote the beginning of the answer. */
function answerResult(
  endpoint: Endpoint,
  answer: Extract<Posted, { type: 'answer' }>,
  now: number,
): DeliverResult {
  const { status } = answer;
  if (status >= 200 && status < 300) return { type: 'delivered' };
  const error = `the webhook "${endpoint.name}" answered ${status}`;
  if (status >= 300 && status < 400)
    return {
      type: 'failed',
      error: `${error}, a redirect, which is not followed: configure its new URL`,
    };
  if (status === GONE)
    return { type: 'failed', error: `${error}: it is gone: remove it from the configuration` };
  const said = quoted(endpoint, answer.text);
  const sentence = said === '' ? error : `${error}: ${said}`;
  if (!TRANSIENT.has(status) && status < 500) return { type: 'failed', error: sentence };
  const wait_ms = retryAfter({ 'retry-after': answer.retry_after }, now);
  return {
    type: 'retry',
    error: sentence,
    after_ms: wait_ms === null ? null : Math.min(wait_ms, RETRY_AFTER_MAX_MS),
  };
}

/** Masks secrets in a quoted answer: servers tend to repeat the requested URL, which may contain some. */
function quoted({ hidden }: Endpoint, text: string): string {
  let said = clean(text);
  for (const secret of hidden) said = said.replaceAll(secret, '[hidden]');
  return cutText(said, TEXT_MAX);
}
