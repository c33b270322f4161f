import { setImmediate as nextRound } from 'node:timers/promises';

/** Time slices, for work that must not block the event loop. */
export class Slices {
  static readonly #MS = 5;
  #since = performance.now();

  isOver(): boolean {
    return performance.now() - this.#since >= Slices.#MS;
  }

  async next(): Promise<void> {
    await nextRound();
    this.#since = performance.now();
  }
}
