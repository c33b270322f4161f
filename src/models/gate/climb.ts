/** Accepted requests between two trials of more: at first, and at most after trials that failed. */
const PATIENCE = { first: 20, most: 80 };
const RETURN = 5;
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
  /** Where it was last refused. */
  #top = 0;
  #step = STEP;
  #patience = PATIENCE.first;
  #accepted = 0;

  constructor(value: number, least: number, unit: number) {
    this.value = value;
    this.#good = value;
    this.#least = least;
    this.#unit = unit;
  }

  /** Counts a request that was accepted while this limit held others back. `may_try`: false where it is too early for a trial. */
  accepted(most: number, may_try = true): void {
    this.#accepted += 1;
    // Back to where it was not long ago: quickly.
    const patience = this.value < this.#top * 0.9 ? RETURN : this.#patience;
    if (this.#accepted < patience || this.value >= most || !may_try) return;
    if (this.value > this.#good)
      [this.#step, this.#patience] = [Math.min(this.#step * 2, 1), Math.min(this.#patience, PATIENCE.first)];
    this.#good = this.value;
    this.value = Math.min(most, this.value + Math.max(this.#unit, this.value * this.#step));
    this.#accepted = 0;
  }

  /** Takes back a trial that was refused, to at most `most`; without one, the limit has fallen: to `measured`, what is accepted now. */
  refused(measured: number, most = this.#good): void {
    this.#patience = Math.max(this.#patience, PATIENCE.first);
    const known = this.value > this.#good ? Math.min(this.#good, most) : this.#good;
    this.#top = known < this.#top * 0.9 ? (this.#top + known) / 2 : known;
    if (this.value > this.#good) this.#patience = Math.min(this.#patience * 2, PATIENCE.most);
    this.reset(this.value > this.#good ? Math.min(this.#good, most) : Math.min(this.#good, measured));
  }

  /** Starts from a rough estimate: it is tried further soon. */
  guess(value: number): void {
    this.reset(value);
    this.#step = 0.5;
    this.#patience = 5;
  }

  /** Starts over from this value, as if it were known to be good. */
  reset(value: number): void {
    this.value = Math.max(this.#least, value);
    this.#good = this.value;
    this.#step = STEP;
    this.#accepted = 0;
  }
}
