import { createHmac } from 'node:crypto';
import { retryAfter } from '../../models/refusals/retry-after.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { decoded } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import type { Channel, DeliverContext, DeliverResult, Parcel } from '../channel.ts';
import { deliveryJson } from '../parcel-json.ts';
import { unknownName } from '../unknown-name.ts';
import { type Posted, post } from './post.ts';

/** Webhooks: signed POSTs to endpoints of the configuration. */

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
      const webhook = `the webhook "${endpoint.name}" (${endpoint.url.host})`;
      const error = late.aborted
        ? `${webhook} did not answer within ${time_limit_ms / 1000} s`
        : stop.aborted
          ? `the delivery to the webhook "${endpoint.name}" was stopped before it was answered`
          : `${webhook} cannot be reached (${posted.reason})`;
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

/** The URL that a webhook is posted to, and the key that signs it. */
interface Endpoint {
  readonly name: string;
  readonly url: URL;
  readonly key: Buffer;
  /** Texts that are masked in errors: the secret, and parts of the URL that may be secret. The longest first. */
  readonly hidden: readonly string[];
}

const SECRET_PREFIX = 'whsec_';
/** Minimum length of a part of a URL that is masked; shorter ones would mask ordinary words. */
const SECRET_MIN = 4;

/** Checks a configured webhook. Throws `E_CONFIG`, without the URL or the secret in the message. */
function endpointOf(name: string, { url, secret }: { url: string; secret: string }): Endpoint {
  const wrong = (what: string, hint: string) =>
    new CoppiceError('E_CONFIG', `the webhook "${name}" ${what}`, { hint });
  const parsed = URL.parse(url);
  if (parsed === null) throw wrong('has no valid url', 'It begins with https:// or http://');
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    throw wrong(`has a url of ${parsed.protocol}`, 'Only https: and http: can be posted to.');
  if (parsed.username !== '' || parsed.password !== '')
    throw wrong('has a user or a password in its url', 'Leave them out: the signature says who sends.');
  const key = signingKey(secret);
  if (key === null)
    throw wrong(
      'has no usable secret',
      'It is whsec_ followed by base64, or any other text that is not empty.',
    );
  return { name, url: parsed, key, hidden: hiddenOf(parsed, secret) };
}

function hiddenOf(url: URL, secret: string): string[] {
  const { pathname, search, searchParams } = url;
  const raw = search.slice(1).split('&');
  const values = [
    ...raw.map((pair) => pair.slice(pair.indexOf('=') + 1)),
    ...[...searchParams].map(([, value]) => value),
    pathname === '/' ? '' : pathname,
    decoded(pathname),
    secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '',
  ].filter((text) => text.length >= SECRET_MIN);
  // The whole secret and query are masked however short they are.
  const whole = [secret, search, search.slice(1), decoded(search)].filter((text) => text.length > 1);
  return [...new Set([...values, ...whole])].sort((a, b) => b.length - a.length);
}

/** Decodes a secret: base64 after `whsec_` (Standard Webhooks), any other text as UTF-8. Null for an empty or malformed one. */
export function signingKey(secret: string): Buffer | null {
  if (!secret.startsWith(SECRET_PREFIX)) return secret === '' ? null : Buffer.from(secret, 'utf8');
  const text = secret.slice(SECRET_PREFIX.length);
  const key = Buffer.from(text, 'base64');
  const bare = (base64: string) => base64.replace(/=+$/, '');
  return key.length > 0 && bare(key.toString('base64')) === bare(text) ? key : null;
}
