import { POLL_MS } from '../../src/runtime/leading/lease-keeper.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../src/runtime/runtime-clock.ts';

/** Set by `npm run test:promptly`: stages poll no signals and their waits have no end. */
export const NO_POLLS = process.env.COPPICE_TEST_NO_POLLS === '1';
/** A test that is about a time limit sets a shorter one, or brings its own clock. */
const LONGEST_WAIT_MS = 5_000;
const NEVER_MS = 2 ** 31 - 1;

/**
 * The system's time, in which the poll for signals and long waits never ring: a lost hint leaves the test hanging. `settled` still polls: nothing signals it
 * that a tree led elsewhere too has come to rest, and it wakes no agent. What never rings keeps the process alive, as it would otherwise.
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
