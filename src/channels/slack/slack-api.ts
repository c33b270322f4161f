import { retryAfter } from '../../models/refusals/retry-after.ts';
import { fieldsOf } from '../../records/text/json-fields.ts';
import { type JsonObject, jsonIn } from '../../records/text/json-text.ts';
import type { DeliverResult } from '../channel.ts';

const CALL_MS = 10_000;
/** Errors of Slack itself, after which a retry may succeed. */
const TRANSIENT =
  /^(?:ratelimited|rate_limited|internal_error|fatal_error|service_unavailable|request_timeout|team_added_to_org)$/;

export type SlackAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly failure: Exclude<DeliverResult, { readonly type: 'delivered' }> };

/** Calls a method of Slack's Web API; never rejects. No error contains the token. */
export async function callSlack(
  { root, token }: { readonly root: string; readonly token: string },
  method: string,
  body: object,
  signal: AbortSignal,
): Promise<SlackAnswer> {
  const retry = (error: string, after_ms: number | null = null): SlackAnswer => ({
    ok: false,
    failure: { type: 'retry', error, after_ms },
  });
  try {
    const response = await fetch(`${root}/${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
    });
    const result = fieldsOf(jsonIn(await response.text()));
    if (result.ok === true) return { ok: true, result };
    const wait = retryAfter({ 'retry-after': response.headers.get('retry-after') ?? undefined }, Date.now());
    const error = /^[\w:.-]{1,80}$/.exec(String(result.error ?? ''))?.[0] ?? `status ${response.status}`;
    if (response.status === 429) return retry('Slack asked to slow down', wait);
    if (response.status >= 500 || TRANSIENT.test(error)) return retry(`Slack answered ${error}`, wait);
    return {
      ok: false,
      failure: { type: 'failed', error: `Slack refused ${method}: ${error}${HINTS[error] ?? ''}` },
    };
  } catch {
    return retry(signal.aborted ? 'stopped before all of it was sent' : 'Slack cannot be reached');
  }
}

const TOKEN = ': put the token of the app into the variable that channels.slack names';
const HINTS: Readonly<Record<string, string>> = {
  invalid_auth: TOKEN,
  not_authed: TOKEN,
  token_revoked: TOKEN,
  not_in_channel: ': invite the app into the channel',
  channel_not_found: ': invite the app into the channel, or check its id',
  missing_scope: ': add the scopes of docs/slack.md to the app, and install it again',
};
