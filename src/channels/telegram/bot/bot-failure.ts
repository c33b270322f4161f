import { GrammyError, HttpError } from 'grammy';
import { hideSecrets } from '../../../records/text/hide-secrets.ts';
import type { DeliverResult } from '../../channel.ts';

/** Why a call of the Bot API failed. Never contains the token. */
export type BotFailure =
  /** Aborted by our own signal; whether the call took effect is unknown. */
  | { readonly type: 'aborted' }
  /** Rate limit: nothing may be sent for `after_ms`. */
  | { readonly type: 'flood'; readonly after_ms: number }
  /** Network error, timeout or server error: a retry may succeed. */
  | { readonly type: 'transient'; readonly error: string }
  | { readonly type: 'unauthorized' }
  /** Another process polls with this token, or a webhook is set. */
  | { readonly type: 'conflict'; readonly error: string }
  | { readonly type: 'refused'; readonly error: string; readonly migrated_to: number | null };

const FLOOD_FALLBACK_MS = 5_000;

/** `timed_out`: our own time limit aborted the call. */
export function botFailure(error: unknown, token: string, timed_out: boolean): BotFailure {
  if (!(error instanceof GrammyError)) {
    const why = timed_out ? 'no answer in time' : networkReason(error);
    return { type: 'transient', error: `Telegram cannot be reached: ${why}` };
  }
  const { error_code, parameters } = error;
  const secrets = [token, encodeURIComponent(token), token.slice(token.indexOf(':') + 1)];
  const said = hideSecrets(String(error.description), secrets, '<token>');
  if (error_code === 429 || error_code === 420) {
    const { retry_after } = parameters;
    return { type: 'flood', after_ms: retry_after === undefined ? FLOOD_FALLBACK_MS : retry_after * 1000 };
  }
  // A malformed token is answered with "Not Found".
  if (error_code === 401 || error_code === 404) return { type: 'unauthorized' };
  if (error_code === 409) return { type: 'conflict', error: said };
  if (error_code >= 400 && error_code < 500)
    return { type: 'refused', error: said, migrated_to: parameters.migrate_to_chat_id ?? null };
  return { type: 'transient', error: `Telegram server error: ${said}` };
}

/** Short reason for a failure without an answer. The error's own text is left out: it contains the URL, and so the token. */
function networkReason(error: unknown): string {
  const cause: unknown = error instanceof HttpError ? error.error : error;
  if (typeof cause !== 'object' || cause === null) return 'the call failed';
  const { code, type } = cause as { readonly code?: unknown; readonly type?: unknown };
  if (type === 'invalid-json') return 'its answer was not JSON';
  return typeof code === 'string' && /^[A-Z_]+$/.test(code) ? code : 'the connection was lost';
}

/** Classifies a failed edit: `same`: the message has that text already; `gone`: it cannot be edited (any more). */
export function editRefusal(failure: BotFailure): 'same' | 'gone' | 'other' {
  if (failure.type !== 'refused') return 'other';
  if (/message is not modified/i.test(failure.error)) return 'same';
  return /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i.test(failure.error)
    ? 'gone'
    : 'other';
}

export function failureResult(failure: BotFailure): DeliverResult {
  switch (failure.type) {
    case 'aborted':
      return { type: 'retry', error: 'stopped before all of it was sent', after_ms: null };
    case 'flood':
      return { type: 'retry', error: 'Telegram asked to slow down', after_ms: Math.ceil(failure.after_ms) };
    case 'transient':
    case 'conflict':
      return { type: 'retry', error: failure.error, after_ms: null };
    case 'unauthorized':
      return { type: 'failed', error: TOKEN_REFUSED };
    case 'refused':
      return { type: 'failed', error: refusal(failure.error, failure.migrated_to) };
  }
}

export const TOKEN_REFUSED =
  'the bot token was refused: put the token that @BotFather gave you into the environment variable that channels.telegram.tokenEnv names';

function refusal(error: string, migrated_to: number | null): string {
  if (migrated_to !== null)
    return `the group has become a supergroup: write telegram:${migrated_to} in place of the old id`;
  return `Telegram refused the message: ${error}`;
}
