import type { Clock } from '../../src/processes/waiting.ts';

/** A clock that advances only when the test says so. */
export class ManualClock implements Clock {
  #now = Date.UTC(2026, 10, 21, 2, 0, 0);
  readonly #timers = new Set<{ readonly at: number; readonly ring: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, ring: () => void): () => void {
    const timer = { at: this.#now + ms, ring };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets everything run that does not wait for a timer. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Advances the clock by `ms`; timers fire in order, and each one's consequences run before the next. */
  async pass(ms: number): Promise<void> {
    await this.settle();
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.ring();
      await this.settle();
    }
    this.#now = end;
  }

  /** Number of timers that have not fired. */
  get waiting(): number {
    return this.#timers.size;
  }
}
