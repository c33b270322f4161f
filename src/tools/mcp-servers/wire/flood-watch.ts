/** More messages or bytes in this time are a flood: nobody reads them, and they take CPU time from the agents. */
const FLOOD = { messages: 10_000, bytes: 256 * 1024 * 1024, within_ms: 10_000 };

/** How a server exceeded the limits, as the end of a sentence about it. */
export class LimitExceeded extends Error {
  override readonly name = 'Unbounded';
}

/** Counts the messages and bytes of a server. `add` throws `LimitExceeded` when they are a flood. */
export class FloodWatch {
  readonly #now: () => number;
  #since: number;
  #messages = 0;
  #bytes = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  add(messages: number, bytes: number): void {
    this.#messages += messages;
    this.#bytes += bytes;
    if (this.#messages <= FLOOD.messages && this.#bytes <= FLOOD.bytes) return;
    const now = this.#now();
    if (now - this.#since < FLOOD.within_ms)
      throw new LimitExceeded('it sent too many messages or too much data');
    [this.#since, this.#messages, this.#bytes] = [now, 0, 0];
  }
}
