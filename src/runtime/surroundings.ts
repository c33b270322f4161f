import { randomUUID } from 'node:crypto';
import { type Clock, SYSTEM_CLOCK } from '../processes/waiting.ts';

/** Ends what it came from; a second time does nothing. */
export type Stop = () => void;

/**
 * Time and new ids as the runtime meets them. A test brings its own, so that hours pass at once and every run is the same. Each member
 * works on its own, without `this`.
 */
export interface Surroundings extends Clock {
  /** Rings every `ms`. With `background` a process that has nothing else to wait for may end. */
  every(ms: number, ring: () => void, background?: boolean): Stop;
  /** Resolves when sockets and timers have had their turn. */
  soon(): Promise<void>;
  /** A uuid that nobody has. */
  newId(): string;
}

export const SYSTEM_SURROUNDINGS: Surroundings = {
  ...SYSTEM_CLOCK,
  every(ms, ring, background = false) {
    const timer = setInterval(ring, ms);
    if (background) timer.unref();
    return () => clearInterval(timer);
  },
  soon: () => new Promise((resolve) => setImmediate(resolve)),
  newId: randomUUID,
};
