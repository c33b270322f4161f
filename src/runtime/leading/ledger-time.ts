import type { Store } from '../../store/store.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../runtime-clock.ts';

/** Interval at which the difference is measured again: clocks drift, and people set them. */
const MEASURE_MS = 60_000;
/** A smaller difference may be the latency of the ledger and is ignored. After a longer round trip it is unknown when the ledger read its clock. */
const TOLERANCE_MS = 1_000;

/**
 * This process's clock, adjusted to the ledger's: one process writes deadlines and start times that another reads, and clocks of machines
 * differ. Rejects when the ledger cannot be reached.
 */
export async function ledgerTime(
  store: Pick<Store, 'now'>,
  own: RuntimeClock = SYSTEM_RUNTIME_CLOCK,
): Promise<RuntimeClock> {
  let offset_ms = 0;
  let measured_at = own.now();
  const measure = async (is_first = false): Promise<void> => {
    const asked_at = own.now();
    measured_at = asked_at;
    const there = await store.now();
    const took_ms = own.now() - asked_at;
    // The first one counts in any case: the clocks may be hours apart.
    if (!is_first && Math.abs(took_ms) > TOLERANCE_MS) return;
    const difference_ms = Math.round(there - (asked_at + took_ms / 2));
    offset_ms = Math.abs(difference_ms) > TOLERANCE_MS ? difference_ms : 0;
  };
  await measure(true);
  return {
    ...own,
    now() {
      const now = own.now();
      // Absolute difference, because this clock may have been set back.
      if (Math.abs(now - measured_at) > MEASURE_MS) void measure().catch(() => undefined);
      return now + offset_ms;
    },
  };
}
