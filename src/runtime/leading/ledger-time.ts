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
  // What this clock, the ledger's and this machine's add to the monotonic clock.
  let [base_ms, ledger_ms, wall_ms] = [0, 0, 0];
  let [measured_at, read_at] = [0, 0];
  const stops: { readonly until: number; readonly by_ms: number }[] = [];
  const measure = async (is_first = false): Promise<void> => {
    measured_at = own.lap();
    const [asked_at, wall] = [measured_at, own.now() - measured_at];
    const there = await store.now();
    const took_ms = own.lap() - asked_at;
    // The first one counts in any case: the clocks may be hours apart.
    if (!is_first && took_ms > TOLERANCE_MS) return;
    [wall_ms, ledger_ms] = [wall, Math.round(there - asked_at - took_ms / 2)];
  };
  const now = (): number => {
    const lap = own.lap();
    if (lap - read_at > STOPPED_MS) base_ms -= Math.floor(lap - read_at);
    read_at = lap;
    // A wall clock that was set, or went on while the machine slept, is noticed at once.
    const is_set = Math.abs(own.now() - lap - wall_ms) > TOLERANCE_MS;
    if (lap - measured_at > (is_set ? TOLERANCE_MS : MEASURE_MS)) void measure().catch(() => undefined);
    return Math.floor(lap + base_ms);
  };
  await measure(true);
  [base_ms, read_at] = [ledger_ms, own.lap()];
  const catchUp = (): number => {
    now();
    const by_ms = Math.abs(ledger_ms - base_ms) > TOLERANCE_MS ? ledger_ms - base_ms : 0;
    base_ms += by_ms;
    if (by_ms > 0) stops.push({ until: now(), by_ms });
    return by_ms;
  };
  const stoodStill = (since: number): number =>
    stops.reduce((sum, { until, by_ms }) => (since < until - by_ms / 2 ? sum + by_ms : sum), 0);
  return { ...own, now, catchUp, stoodStill };
}
