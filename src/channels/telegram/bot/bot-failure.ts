import { GrammyError, HttpError } from 'grammy';

/** Why a call of the Bot API came to nothing. No text of it holds the token. */
export type BotFailure =
  /** Our own signal; whether the call was carried out is not known. */
  | { readonly type: 'aborted' }
  /** Too fast: nothing may be sent before. */
  | { readonly type: 'flood'; readonly after_ms: number }
  /** The network, a time limit, a server in trouble: another try may help. */
  | { readonly type: 'transient'; readonly error: string }
  | { readonly type: 'unauthorized' }
  /** Somebody else polls with this token, or a webhook is set. */
  | { readonly type: 'conflict'; readonly error: string }
  | { readonly type: 'refused'; readonly error: string; readonly migrated_to: number | null };

const FLOOD_FALLBACK_MS = 5_000;

/** `timed_out`: our own time limit ended the call. */
export function botFailure(error: unknown, token: string, timed_out: boolean): BotFailure {
  if (!(error instanceof GrammyError)) {
    const why = timed_out ? 'no answer in time' : networkTrouble(error);
    return { type: 'transient', error: `Telegram cannot be reached: ${why}` };
  }
  const { error_code, parameters } = error;
  const said = withoutToken(String(error.description), token);
  if (error_code === 429 || error_code === 420) {
    const { retry_after } = parameters;
    return { type: 'flood', after_ms: retry_after === undefined ? FLOOD_FALLBACK_MS : retry_after * 1000 };
  }
  // A token that is no token at all is answered with "Not Found".
  if (error_code === 401 || error_code === 404) return { type: 'unauthorized' };
  if (error_code === 409) return { type: 'conflict', error: said };
  if (error_code >= 400 && error_code < 500)
    return { type: 'refused', error: said, migrated_to: parameters.migrate_to_chat_id ?? null };
  return { type: 'transient', error: `Telegram is in trouble: ${said}` };
}

/** The text of such an error carries the address of the call, and that the token; its code says enough. */
function networkTrouble(error: unknown): string {
  const cause: unknown = error instanceof HttpError ? error.error : error;
  if (typeof cause !== 'object' || cause === null) return 'the call failed';
  const { code, type } = cause as { readonly code?: unknown; readonly type?: unknown };
  if (type === 'invalid-json') return 'its answer was no JSON';
  return typeof code === 'string' && /^[A-Z_]+$/.test(code) ? code : 'the connection broke off';
}

function withoutToken(text: string, token: string): string {
  const secret = token.slice(token.indexOf(':') + 1);
  return [token, encodeURIComponent(token), secret]
    .filter((part) => part !== '')
    .reduce((clean, part) => clean.replaceAll(part, '<token>'), text);
}
