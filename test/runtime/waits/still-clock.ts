import type { RuntimeClock } from '../../../src/runtime/runtime-clock.ts';

export interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/** Time stands still, and nothing polls: whoever needs time to go on has missed something, unless a scenario rings the timers. */
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
