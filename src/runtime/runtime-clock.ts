import { type Clock, SYSTEM_CLOCK } from '../processes/waiting.ts';

/** Cancels a timer; idempotent. */
export type Stop = () => void;

/** Time and timers of a runtime, injected so that tests can let hours pass at once. No member uses `this`. */
export interface RuntimeClock extends Clock {
  /** Moves `now` to the ledger's clock if that has stepped against it, and returns by how much (ms); 0 otherwise. Absent: they never part. */
  catchUp?(): number;
  /** For how long `now` has stood still since then (ms), as far as `catchUp` has told it. */
  stoodStill?(since: number): number;
  /** Monotonic time in milliseconds, with fractions, for measuring durations. */
  lap(): number;
  /** Calls `ring` every `ms` milliseconds. A `background` timer does not keep the process alive. */
  every(ms: number, ring: () => void, background?: boolean): Stop;
  /** Resolves when pending socket and timer callbacks have run. */
  soon(): Promise<void>;
}

export const SYSTEM_RUNTIME_CLOCK: RuntimeClock = {
  ...SYSTEM_CLOCK,
  lap: () => performance.now(),
  every(ms, ring, background = false) {
    const timer = setInterval(ring, ms);
    if (background) timer.unref();
    return () => clearInterval(timer);
  },
  soon: () => new Promise((resolve) => setImmediate(resolve)),
};
