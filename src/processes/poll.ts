import { type Clock, SYSTEM_CLOCK } from './waiting.ts';

/**
 * Looks when it is woken, and again when the delay is over that the last look asked for (milliseconds): signals may be lost. One look at a time;
 * who wakes it during one gets another. `look` must not reject.
 */
export class Poll {
  readonly #look: () => Promise<number>;
  readonly #clock: Clock;
  #cancel = () => {};
  #looking: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  constructor(look: () => Promise<number>, clock = SYSTEM_CLOCK) {
    this.#look = look;
    this.#clock = clock;
  }

  wake(): void {
    this.#again = true;
    this.#cancel();
    if (!this.#stopped) this.#looking ??= this.#run();
  }

  async #run(): Promise<void> {
    let delay_ms = 0;
    while (this.#again && !this.#stopped) {
      this.#again = false;
      delay_ms = await this.#look();
    }
    this.#looking = null;
    if (!this.#stopped) this.#cancel = this.#clock.after(delay_ms, () => this.wake());
  }

  /** Resolves when no look is under way, and none will be. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }
}
