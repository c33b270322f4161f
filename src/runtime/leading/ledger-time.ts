import type { Store } from '../../store/store.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../runtime-clock.ts';

/** Clocks drift slowly, and people set them. */
const MEASURE_MS = 60_000;
/** A smaller difference may be the way to the ledger and back; so close to it, this process's own clock is as good. */
const TOLERANCE_MS = 1_000;

/**
 * This process's clock, set to that of the ledger: deadlines and the beginnings of turns are written by one process and read by another,
 * whose own clock may be an hour off. Rejects when the ledger cannot be reached.
 */
export async function ledgerTime(
  store: Pick<Store, 'now'>,
  own: RuntimeClock = SYSTEM_RUNTIME_CLOCK,
): Promise<RuntimeClock> {
  let offset_ms = 0;
  let measured_at = own.now();
  const measure = async (): Promise<void> => {
    measured_at = own.now();
    const there = await store.now();
    const difference_ms = Math.round(there - (measured_at + own.now()) / 2);
    offset_ms = Math.abs(difference_ms) > TOLERANCE_MS ? difference_ms : 0;
  };
  await measure();
  return {
    ...own,
    now() {
      const now = own.now();
      // Also when the own clock was set back.
      if (Math.abs(now - measured_at) > MEASURE_MS) void measure().catch(() => undefined);
      return now + offset_ms;
    },
  };
}
