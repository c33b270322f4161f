/** Accepted requests between two trials, and those that each refusal asks for beyond them, so that at most one of thirty is refused; at most so many. */
const PATIENCE = { least: 20, each: 30, most: 300 };
const RETURN = 5;
const STEP = { least: 0.0125, first: 0.05, grows: 4, most: 1 };

/**
 * A limit known only from what is refused. It stays at what was last accepted and is tried further from time to time: the more seldom the more was refused,
 * and in growing steps after those that succeeded, so that a limit which was raised is found soon.
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
  #step = STEP.first;
  /** Where a trial goes. */
  #aim = 0;
  #accepted = 0;
  /** Accepted requests to wait for because of refusals. */
  #debt = 0;
  /** Whether the value is an estimate: it is tried further soon, and refusals count when they contradict it. */
  is_rough = false;

  constructor(value: number, least: number, unit: number) {
    this.value = value;
    this.#good = value;
    this.#least = least;
    this.#unit = unit;
  }

  /** Whether it is higher than what is known to be accepted. */
  get is_trial(): boolean {
    return this.value > this.#good;
  }

  /** What is known to be accepted. */
  get good(): number {
    return this.#good;
  }

  /** Counts a request that was accepted. `is_held`: whether this limit held others back. `may_try`: false where it is too early for a trial. */
  accepted(most: number, is_held = true, may_try = true): void {
    this.#debt = Math.max(0, this.#debt - 1);
    if (!is_held) return;
    // One by one: as many more at a time would be refused for that alone.
    if (this.#unit > 0 && (this.is_rough || this.value < this.#aim)) {
      this.value = Math.min(most, this.value + this.#unit);
      if (this.is_rough) this.#good = this.value;
      return;
    }
    this.#accepted += 1;
    // Back to where it was not long ago: quickly.
    const returns = this.is_rough || this.value < this.#top * 0.9;
    const patience = returns ? RETURN : PATIENCE.least;
    if (this.#accepted < patience || this.value >= most || !may_try) return;
    if (this.#debt > 0 && !returns && !this.is_trial) return;
    if (this.is_trial) this.#step = Math.min(this.#step * STEP.grows, STEP.most);
    this.#good = this.value;
    this.#aim = Math.min(most, this.value + Math.max(this.#unit, this.value * this.#step));
    this.value = this.#unit > 0 ? Math.min(most, this.value + this.#unit) : this.#aim;
    this.#accepted = 0;
  }

  /** Counts a refusal that this limit should have prevented. */
  paid(): void {
    if (!this.is_rough) this.#debt = Math.min(PATIENCE.most, this.#debt + PATIENCE.each);
  }

  /** Takes back a trial that was refused; without one, the limit has fallen: to `measured`, what is accepted now. */
  refused(measured: number): void {
    if (this.#top === 0) {
      this.#top = 1e-9;
      return this.reset(Math.min(this.value, measured), true);
    }
    const step = this.is_trial ? Math.max(STEP.least, Math.min(STEP.first, this.#step) / 2) : STEP.first;
    const known = this.is_trial ? this.#good : Math.min(this.#good, measured);
    this.#top = this.#good < this.#top * 0.9 ? (this.#top + this.#good) / 2 : this.#good;
    this.reset(known);
    this.#step = step;
    this.#debt = PATIENCE.each;
  }

  lower(value: number): void {
    if (value < this.value) this.reset(value, this.is_rough);
  }

  /** Starts over from this value, as if it were known to be good; a `rough` one is tried further soon. */
  reset(value: number, is_rough = false): void {
    this.value = Math.max(this.#least, value);
    this.#good = this.value;
    this.#aim = this.value;
    this.#step = is_rough ? 0.5 : STEP.first;
    this.is_rough = is_rough;
    this.#accepted = 0;
  }
}
