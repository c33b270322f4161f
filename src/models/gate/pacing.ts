import { Climb } from './climb.ts';
import type { ToldLimit } from './rate-headers.ts';

const MINUTE_MS = 60_000;
const TRIAL_MS = 8_000;
/** Accepted requests from which a measured rate can be believed. */
const MEANS_SOMETHING = 50;
/** Rounding must not cost a request. */
const EPSILON = 1e-6;

/** What may be sent now, and when there will be enough of it: fills with time, up to its size. */
class Bucket {
  /** Units a millisecond. */
  rate = 0;
  size = Number.POSITIVE_INFINITY;
  #left = Number.POSITIVE_INFINITY;
  #at = 0;

  left(now: number): number {
    this.#left = Math.min(this.size, this.#left + this.rate * Math.max(0, now - this.#at));
    this.#at = now;
    return this.#left;
  }

  set(left: number, now: number): void {
    this.#left = left;
    this.#at = now;
  }

  take(units: number, now: number): void {
    this.#left = this.left(now) - units;
  }

  /** Milliseconds until there are as many units; a full bucket is enough for anything. */
  wait(units: number, now: number): number {
    const missing = Math.min(units, this.size) - this.left(now);
    if (missing <= EPSILON) return 0;
    return this.rate > 0 ? missing / this.rate : Number.POSITIVE_INFINITY;
  }
}

/** The rate of requests that a provider accepts without saying it, found from what it refuses. Nothing is held back before the first refusal. */
export class Pace {
  readonly #bucket = new Bucket();
  #climb: Climb | null = null;
  #tried_at = 0;
  /** Minimum time between two trials. */
  #trial_ms = 0;

  /** Requests a millisecond; null while unknown. */
  get rate(): number | null {
    return this.#climb?.value ?? null;
  }

  wait(now: number): number {
    return this.#climb === null ? 0 : this.#bucket.wait(1, now);
  }

  take(now: number): void {
    if (this.#climb !== null) this.#bucket.take(1, now);
  }

  /** Estimates the rate from a burst of which `count` were accepted. */
  guess(count: number, over_ms: number, now: number): void {
    this.#climb ??= new Climb(1, 1e-6, 0);
    this.#climb.guess(count / over_ms);
    this.#bucket.size = Math.max(1, count);
    this.#use(0, now);
  }

  accepted(now: number): void {
    const { value } = this.#climb ?? { value: 0 };
    // Within a window anything is accepted, so that trials one upon the other would say nothing.
    this.#climb?.accepted(Number.POSITIVE_INFINITY, now - this.#tried_at >= this.#trial_ms);
    if (this.#climb?.value !== value) this.#tried_at = now;
    this.#use(this.#bucket.left(now), now);
  }

  /** `count`: requests that were accepted in the last `over_ms`. `is_paced`: whether the rate had held the refused one. */
  refused(count: number, over_ms: number, is_paced: boolean, now: number): void {
    const climb = this.#climb;
    if (climb === null) return;
    this.#trial_ms = Math.min(TRIAL_MS, over_ms / 8);
    // One pause of the provider is not its rate.
    const measured = Math.max(count / over_ms, count < MEANS_SOMETHING ? climb.value * 0.6 : 0);
    // Saved up while idle: the provider keeps less for later than was thought, its rate may be right.
    if (!is_paced && this.#bucket.size > 1) {
      this.#bucket.size = Math.max(1, this.#bucket.size * 0.7);
      if (measured < climb.value) climb.refused(measured, measured);
    } else climb.refused(Math.min(climb.value * 0.97, measured), measured * 1.05);
    this.#use(0, now);
  }

  #use(left: number, now: number): void {
    this.#bucket.set(left, now);
    this.#bucket.rate = this.#climb?.value ?? 0;
  }
}

/** A limit that a provider states with its answers. */
export class Allowance {
  readonly #bucket = new Bucket();
  #told: ToldLimit;
  /** Sent in all. */
  spent = 0;
  /** When a fixed window ends, in which nothing comes back before; null if it comes back bit by bit, or is not known. */
  #window_end: number | null = null;
  #implied: number | null = null;

  constructor(told: ToldLimit, now: number) {
    this.#told = told;
    this.tell(told, 0, now);
  }

  /** `since`: what was sent after the request whose answer says this, and is not yet in it. */
  tell(told: ToldLimit, since: number, now: number): void {
    const used = told.limit - told.remaining;
    const { reset_ms } = told;
    this.#told = told;
    this.#bucket.size = told.limit;
    this.#bucket.set(told.remaining - since, now);
    this.#bucket.rate = told.limit / MINUTE_MS;
    if (reset_ms === null || reset_ms === 0 || used <= 0) return;
    // What comes back bit by bit does so at one rate; in a window the same time stays for ever more of it.
    const implied = used / reset_ms;
    if (reset_ms >= (told.is_coarse ? 5_000 : 50)) {
      if (this.#implied !== null) {
        const ratio = implied / this.#implied;
        this.#window_end = ratio > 1.5 || ratio < 0.66 ? now + reset_ms : this.#window_end && now + reset_ms;
      }
      this.#implied = implied;
      this.#bucket.rate = implied;
    }
    if (this.#window_end !== null) this.#bucket.rate = 0;
  }

  wait(units: number, now: number): number {
    if (this.#window_end !== null && now >= this.#window_end) {
      this.#window_end = null;
      this.#implied = null;
      this.#bucket.set(this.#told.limit, now);
    }
    const wait = this.#bucket.wait(units, now);
    return this.#window_end === null ? wait : Math.min(wait, this.#window_end - now);
  }

  take(units: number, now: number): void {
    this.spent += units;
    this.#bucket.take(units, now);
  }

  /** Such as `80 % of 4,000 requests a minute`. */
  text(now: number): string {
    const { limit, kind } = this.#told;
    const used = Math.round(100 * Math.min(1, Math.max(0, 1 - this.#bucket.left(now) / limit)));
    return `${used} % of ${limit.toLocaleString('en')} ${kind}${this.#period()}`;
  }

  #period(): string {
    const { rate } = this.#bucket;
    const share = rate === 0 ? 1 : this.#told.limit / rate / MINUTE_MS;
    return share > 0.5 && share < 2 ? ' a minute' : '';
  }
}
