import { POLL_MS } from '../../src/runtime/leading/lease-keeper.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../src/runtime/runtime-clock.ts';

/** Set by `npm run test:promptly`: stages do not poll for signals, and their long waits never end. */
export const NO_POLLS = process.env.COPPICE_TEST_NO_POLLS === '1';
/** Timers from this length on never fire; a test of a time limit sets a shorter one or uses its own clock. */
const LONGEST_WAIT_MS = 5_000;
const NEVER_MS = 2 ** 31 - 1;

/**
 * The system's clock, except that the poll for signals and long timers never fire, so a lost hint makes the test hang. `settled` still polls, because no signal
 * reports that a tree that is also led elsewhere has come to rest, and this poll wakes no agent. Timers that never fire keep the process alive as usual.
 */
export const WITHOUT_POLLS: RuntimeClock = {
  ...SYSTEM_RUNTIME_CLOCK,
  every: (ms, ring, background) =>
    ms === POLL_MS
      ? SYSTEM_RUNTIME_CLOCK.every(NEVER_MS, () => undefined, background)
      : SYSTEM_RUNTIME_CLOCK.every(ms, ring, background),
  after: (ms, ring) =>
    ms < LONGEST_WAIT_MS
      ? SYSTEM_RUNTIME_CLOCK.after(ms, ring)
      : SYSTEM_RUNTIME_CLOCK.after(NEVER_MS, () => undefined),
};
