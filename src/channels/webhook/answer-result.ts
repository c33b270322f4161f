import { retryAfter } from '../../models/provider/retry-after.ts';
import { clean } from '../../render/clean.ts';
import type { DeliverResult } from '../channel.ts';
import type { Endpoint } from './endpoint.ts';
import type { Posted } from './post.ts';

/** What another try may mend, besides 5xx: time-outs and "not now". */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);
const GONE = 410;
/** A receiver that says "in a week" is asked again all the same. */
const WISH_MAX_MS = 60 * 60 * 1000;
const TEXT_MAX = 200;

/** What an answer means for the delivery. Errors name the webhook, not its address, and quote little of the answer. */
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
      error: `${error}, a redirect, which is not followed: put the address that it has now into the configuration`,
    };
  if (status === GONE)
    return { type: 'failed', error: `${error}: it is gone, so take it out of the configuration` };
  const said = quoted(endpoint, answer.text);
  const sentence = said === '' ? error : `${error}: ${said}`;
  if (!LATER.has(status) && status < 500) return { type: 'failed', error: sentence };
  const wish = retryAfter({ 'retry-after': answer.retry_after }, now);
  return { type: 'retry', error: sentence, after_ms: wish === null ? null : Math.min(wish, WISH_MAX_MS) };
}

/** Servers like to repeat the address that they were asked for, with what is secret in it. */
function quoted({ hidden }: Endpoint, text: string): string {
  let said = clean(text);
  for (const secret of hidden) said = said.replaceAll(secret, '[hidden]');
  return said.slice(0, TEXT_MAX).toWellFormed();
}
