import { retryAfter } from '../../models/refusals/retry-after.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { clean } from '../../render/clean.ts';
import type { DeliverResult } from '../channel.ts';
import type { Endpoint } from './endpoint.ts';
import type { Posted } from './post.ts';

/** Status codes worth a retry, besides 5xx. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);
const GONE = 410;
/** Upper bound for the wait that `Retry-After` asks for. */
const RETRY_AFTER_MAX_MS = 60 * 60 * 1000;
const TEXT_MAX = 200;

/** Maps the answer of a webhook to a result. Errors name the webhook, not its URL, and quote the beginning of the answer. */
export function answerResult(
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
