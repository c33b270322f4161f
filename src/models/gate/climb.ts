/** Accepted requests between two trials of more: at first, and at most after trials that failed. */
const PATIENCE = { first: 20, most: 240 };
const STEP = 0.05;

/**
 * A limit known only from what is refused. It stays at what was last accepted and is tried further from time to time: rarely after trials that failed,
 * so that few requests are refused, and in growing steps after those that succeeded, so that a limit which was raised is found soon.
 */
export class Climb {
  value: number;
  readonly #least: number;
  /** Minimum step of a trial. */
  readonly #unit: number;
  /** The value that is known to be accepted. */
  #good: number;
  #step = STEP;
  #patience = PATIENCE.first;
  #accepted = 0;

  constructor(value: number, least: number, unit: number) {
    this.value = value;
    this.#good = value;
    this.#least = least;
    this.#unit = unit;
  }

  /** Counts a request that was accepted while this limit held others back. */
  accepted(most: number): void {
    this.#accepted += 1;
    if (this.#accepted < this.#patience || this.value >= most) return;
    if (this.value > this.#good) [this.#step, this.#patience] = [Math.min(this.#step * 2, 1), PATIENCE.first];
    this.#good = this.value;
    this.value = Math.min(most, this.value + Math.max(this.#unit, this.value * this.#step));
    this.#accepted = 0;
  }

  /** Takes back a trial that was refused; without one, the limit has fallen: to `measured`, what is accepted now. */
  refused(measured: number): void {
    if (this.value > this.#good) this.#patience = Math.min(this.#patience * 2, PATIENCE.most);
    else this.#good = Math.min(this.#good, Math.max(this.#least, measured));
    this.reset(this.#good);
  }

  /** Starts over from this value, as if it were known to be good. */
  reset(value: number): void {
    this.value = Math.max(this.#least, value);
    this.#good = this.value;
    this.#step = STEP;
    this.#accepted = 0;
  }
}
