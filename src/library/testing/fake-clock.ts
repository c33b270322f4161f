import { CoppiceError } from '../../records/coppice-error.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../runtime/runtime-clock.ts';

/** The system's clock for `openTest`, which a test also lets pass at once: timers that are due by then fire in order. */
export class FakeClock implements RuntimeClock {
  readonly #timers = new Set<{ readonly at: number; readonly ring: () => void }>();
  #passed_ms = 0;
  readonly every = SYSTEM_RUNTIME_CLOCK.every;
  readonly soon = SYSTEM_RUNTIME_CLOCK.soon;
  readonly lap = SYSTEM_RUNTIME_CLOCK.lap;

  readonly now = (): number => Date.now() + this.#passed_ms;

  readonly after: RuntimeClock['after'] = (ms, ring) => {
    const timer = { at: this.now() + ms, ring: () => stop() && ring() };
    const real = setTimeout(timer.ring, ms);
    const stop = (): boolean => {
      clearTimeout(real);
      return this.#timers.delete(timer);
    };
    this.#timers.add(timer);
    return () => void stop();
  };

  /** Lets time pass at once. */
  pass(ms: number): void {
    if (typeof ms !== 'number' || !(ms >= 0))
      throw new CoppiceError('E_INVALID_ARGUMENT', 'pass needs milliseconds: a number, 0 or more');
    this.#passed_ms += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.now());
    for (const timer of due.sort((a, b) => a.at - b.at)) timer.ring();
  }
}
