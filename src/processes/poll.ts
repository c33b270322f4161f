import { type Clock, SYSTEM_CLOCK } from './waiting.ts';

/**
 * Polls: calls `look` when woken, and again after the delay (milliseconds) that the last call returned, because signals may be lost. Calls never overlap; a
 * wake-up during one causes another. `look` must not reject.
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

  /** Stops polling; resolves once no `look` is running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }
}
