import type { Store } from '../../store/store.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../runtime-clock.ts';

/** Interval at which the difference is measured again: clocks drift, and people set them. */
const MEASURE_MS = 60_000;
/** A smaller difference may be the latency of the ledger and is ignored. After a longer round trip it is unknown when the ledger read its clock. */
const TOLERANCE_MS = 1_000;
/** Nobody has read the clock for so long, although a poll does so every second: the process was stopped, or the machine slept. */
const STOPPED_MS = 10_000;

/**
 * The ledger's time, because one process writes deadlines and start times that another reads, and clocks of machines differ. Between two calls of `catchUp`
 * it passes as the time in which this process can work: steps of a wall clock, sleep of the machine and a stop of the process do not count
 * (docs/guarantees.md). Rejects when the ledger cannot be reached.
 */
export async function ledgerTime(
  store: Pick<Store, 'now'>,
  own: RuntimeClock = SYSTEM_RUNTIME_CLOCK,
): Promise<RuntimeClock> {
  // The ledger's clock and this machine's at the time when the monotonic clock read 0, and by how much the ledger's has moved against that.
  let [base_ms, wall_ms, step_ms] = [0, 0, 0];
  let [measured_at, read_at] = [0, own.lap()];
  const measure = async (is_first = false): Promise<void> => {
    const asked_at = own.lap();
    const wall = own.now() - asked_at;
    measured_at = asked_at;
    const there = await store.now();
    const took_ms = own.lap() - asked_at;
    // The first one counts in any case: the clocks may be hours apart.
    if (!is_first && took_ms > TOLERANCE_MS) return;
    wall_ms = wall;
    const moved_ms = Math.round(there - asked_at - took_ms / 2) - base_ms;
    if (is_first) base_ms = moved_ms;
    else step_ms = Math.abs(moved_ms) > TOLERANCE_MS ? moved_ms : 0;
  };
  const now = (): number => {
    const lap = own.lap();
    const passed_ms = Math.floor(lap - read_at);
    read_at = lap;
    if (passed_ms > STOPPED_MS) [base_ms, step_ms, measured_at] = [base_ms - passed_ms, 0, -MEASURE_MS];
    // A wall clock that was set, also by the sleep of the machine, is noticed at once.
    const is_set = Math.abs(own.now() - lap - wall_ms) > TOLERANCE_MS;
    if (lap - measured_at > (is_set ? TOLERANCE_MS : MEASURE_MS)) void measure().catch(() => undefined);
    return Math.floor(lap + base_ms);
  };
  await measure(true);
  read_at = own.lap();
  return {
    ...own,
    now,
    catchUp() {
      now();
      const by_ms = step_ms;
      [base_ms, step_ms] = [base_ms + by_ms, 0];
      return by_ms;
    },
  };
}
