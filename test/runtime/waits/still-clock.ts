import type { RuntimeClock } from '../../../src/runtime/runtime-clock.ts';

export interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/** A clock that stands still and never polls: code that needs time to pass has missed an event, unless the scenario fires the timers. */
export function stillClock(
  timers: Set<Timer>,
  { now, soon }: Pick<RuntimeClock, 'now' | 'soon'>,
): RuntimeClock {
  return {
    now,
    lap: now,
    soon,
    after: (ms, ring) => {
      const timer = { at: now() + ms, ring };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    every: () => () => undefined,
  };
}
