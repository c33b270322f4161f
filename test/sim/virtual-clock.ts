import { POLL_MS } from '../../src/runtime/leading/lease-keeper.ts';
import type { RuntimeClock } from '../../src/runtime/runtime-clock.ts';
import type { Random } from './random.ts';
import type { Actor, VirtualTime } from './virtual-time.ts';

/** A simulated process with its own clock. `skew_ms`: offset of that clock from the true time. */
export interface Skewed extends Actor {
  skew_ms: number;
}

/** The clock of a runtime in this process; `polls` false disables its polling timer. */
export function virtualClock(time: VirtualTime, actor: Skewed, random: Random, polls: boolean): RuntimeClock {
  return {
    now: () => time.now + actor.skew_ms,
    lap: () => time.now,
    after: (ms, ring) => time.after(ms, actor, ring),
    every(ms, ring) {
      if (ms === POLL_MS && !polls) return () => undefined;
      let stopped = false;
      let stop = () => {};
      const next = () => {
        if (stopped) return;
        stop = time.after(ms, actor, () => {
          next();
          ring();
        });
      };
      next();
      return () => {
        stopped = true;
        stop();
      };
    },
    // A random delay: how soon a process returns to this depends on its other work.
    soon: () => new Promise((resolve) => time.after(random.between(0, 2), actor, resolve)),
  };
}
