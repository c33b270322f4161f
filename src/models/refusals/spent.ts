import type { Failure, Spent } from '../../records/agent/failure.ts';

/** The longest wait that a provider may ask for without counting as closed: a shorter one is waited for by the request itself. */
export const PATIENCE_MS = 5 * 60_000;

/** An account's limit that no retry gets past, in the words of Anthropic (with 400), its subscriptions, and OpenAI's. */
const USED_UP = /usage[ _]limits?\b[\s\S]{0,40}reached|reached[\s\S]{0,40}usage limits?|regain access/i;
/** Google names all quotas that are exceeded; the wait that it asks for is that of the shortest. */
const GOOGLE_DAY = /"quotaId"\s*:\s*"[^"]*PerDay/;
const A_DAY = /\bper[- ]day\b|\bdaily (?:usage |request |token )?(?:limit|quota)/i;

/** An answer after which the provider takes no more requests: every other one would get the same. */
export interface Closing {
  readonly spent: Spent;
  /** Whether only this model is meant; otherwise all of the provider's. */
  readonly of_model: boolean;
  /** When it takes requests again, milliseconds from now; null if the provider does not say. */
  readonly wait_ms: number | null;
}

/** Nobody answers, or for anybody; closes the provider only once the tries of a request have run out. */
export const NO_SERVICE: Closing = { spent: 'service', of_model: false, wait_ms: null };
/** Anthropic has too much to do, whoever asks. */
const BUSY = /overloaded_error/;

/** Whether this failure closes the provider; null if only this request is concerned, or a retry may succeed soon. */
export function closingIn(
  { kind }: Pick<Failure, 'kind'>,
  said: string,
  wait_ms: number | null,
  status = 0,
): Closing | null {
  // Not every model or place is open to every key.
  if (kind === 'auth') return { spent: 'key', of_model: status === 403, wait_ms: null };
  if (kind === 'no_model') return { spent: 'model', of_model: true, wait_ms: null };
  if (kind === 'no_credit') return { spent: 'credit', of_model: false, wait_ms };
  if (kind !== 'rate_limit' && kind !== 'overloaded') return null;
  const quota = { spent: 'quota', of_model: /per_?model/i.test(said) } as const;
  if ((wait_ms ?? 0) > PATIENCE_MS || isUsedUp(said)) return { ...quota, wait_ms };
  if (kind === 'overloaded' && (status === 529 || BUSY.test(said))) return NO_SERVICE;
  const is_day = GOOGLE_DAY.test(said) || (wait_ms === null && A_DAY.test(said));
  return kind === 'rate_limit' && is_day ? { ...quota, wait_ms: null } : null;
}

/** Whether a refusal says that the account's limit is used up, whatever its status. */
export function isUsedUp(said: string): boolean {
  return USED_UP.test(said);
}
