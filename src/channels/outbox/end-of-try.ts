import { backOff } from '../../processes/waiting.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import type { DeliveryEnd } from '../../store/outbox-ledger.ts';
import type { DeliverResult } from '../channel.ts';

const BACK_OFF = { base_ms: 1_000, max_ms: 5 * 60_000 };
const TRIES_MAX = 50;
const AGE_MAX_MS = 24 * 60 * 60_000;

/**
 * What becomes of a delivery after a try: back-off 1 s, 2 s, 4 s … 5 min with full jitter, never sooner than the other side asked for; given up
 * after 50 tries, or when a try fails 24 h after it was made. `random`: 0 ≤ x < 1.
 */
export function endOfTry(
  delivery: Delivery,
  result: DeliverResult,
  now: number,
  random: () => number,
): DeliveryEnd {
  if (result.type === 'delivered') return { status: 'delivered', at: now };
  if (result.type === 'failed') return { status: 'failed', error: result.error, at: now };
  const { attempts, created_at } = delivery;
  if (attempts >= TRIES_MAX || now - created_at >= AGE_MAX_MS) {
    const error = `${result.error} (given up after ${attempts} ${attempts === 1 ? 'try' : 'tries'})`;
    return { status: 'failed', error, at: now };
  }
  const wait_ms = Math.ceil(Math.max(backOff(attempts, BACK_OFF, random), result.after_ms ?? 0));
  return { status: 'pending', error: result.error, next_at: now + wait_ms };
}
