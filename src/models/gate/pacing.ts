import { Climb } from './climb.ts';
import type { ToldLimit } from './rate-headers.ts';

const MINUTE_MS = 60_000;
/** A trial lasts as many times as long as the last refusals held everything, so that at most a twentieth of the time is lost to them. */
const TRIAL = { times: 20, least_ms: 300, most_ms: 65_000 };
/** The first burst is taken for what is accepted in this time. */
const GUESS_MS = 4_000;
/** What is taken in equal parts, of at least so many and with so long a pause between, comes in windows. */
const WINDOW = { differs: 0.04, least: 20, closed_ms: 2_000, doubts: 15, hurry: 10 };
/** Between two questions whether a window is over. */
const KNOCK_MS = 1_000;
/** In windows of fewer one more than ever is tried only every other time. */
const FEW = 60;
/** What is on its way may arrive before a window begins. */
const LATE_MS = 100;
/** How much faster is sent while a provider states that most of what it takes is left; once in the time that a request and its answer need. */
const EASE = 1.25;
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

/**
 * The rate of requests that a provider accepts without saying it, found from what it refuses; nothing is held back before the first refusal. What is taken in
 * equal parts comes in windows: then as many are sent at once, and the next when it is over.
 */
export class Pace {
  readonly #bucket = new Bucket();
  #climb: Climb | null = null;
  #tried_at = 0;
  /** How long a trial lasts: a window is over before it has succeeded. */
  #trial_ms = 0;
  /** Since when everything is refused; null once something was accepted. */
  #closed_at: number | null = null;
  /** From one opening to the next: requests that were taken, and those sent after everything was refused. */
  #cycle = { from: 0, taken: 0, later: 0 };
  /** The first of them, from which the rate was estimated. */
  #is_first = true;
  #window: { readonly taken: number; readonly period_ms: number } | null = null;
  #last_taken = 0;
  /** Cycles one after the other that took as many, and those that it takes to believe in a window. */
  #equal = 0;
  #doubts = 0;
  /** Whether one more than ever is tried. */
  #tries_more = false;
  /** When more than the rate was last sent. */
  #saved_at = Number.NEGATIVE_INFINITY;

  /** Requests a millisecond; null while unknown. */
  get rate(): number | null {
    const { taken, period_ms } = this.#window ?? { taken: this.#climb?.value ?? null, period_ms: 1 };
    return taken === null ? null : taken / period_ms;
  }

  /** Whether a window is known to be used up. */
  get is_spent(): boolean {
    return this.#window !== null && this.#cycle.taken > this.#window.taken * (1 - WINDOW.differs);
  }

  wait(now: number): number {
    if (this.#climb === null) return 0;
    if (this.#window === null) return this.#bucket.wait(1, now);
    const left = this.#cycle.from + this.#window.period_ms - now;
    if (this.#closed_at !== null) return Math.max(left, this.#bucket.wait(1, now));
    const is_left = this.#cycle.taken < this.#window.taken + Number(this.#tries_more);
    if (left > 0) return is_left ? this.#bucket.wait(1, now) : left;
    if (this.#tries_more && !is_left) {
      // More was taken than ever.
      this.#window = null;
      this.#climb.reset(this.#climb.value * 1.5, true);
      this.#use(this.#bucket.left(now), now);
      return this.#bucket.wait(1, now);
    }
    this.#tries_more = !this.#tries_more;
    this.#cycle = { ...this.#cycle, from: now, taken: 0 };
    this.#use(1, now);
    return 0;
  }

  /** `is_paced`: whether the rate has held this request. */
  take(is_paced: boolean, now: number): void {
    if (this.#cycle.taken === 0) this.#cycle.from = now;
    this.#cycle[this.#closed_at === null ? 'taken' : 'later'] += 1;
    if (this.#climb === null) return;
    this.#bucket.take(1, now);
    if (!is_paced) this.#saved_at = now;
  }

  /** Idle time says nothing of what is taken. */
  idle(now: number): void {
    if (this.#closed_at === null && this.#window === null)
      this.#cycle = { ...this.#cycle, from: now, taken: 0 };
  }

  /** `is_paced`: whether the rate had held the accepted one. */
  accepted(is_paced: boolean, sent_at: number, now: number): void {
    const climb = this.#climb;
    if (climb === null) return;
    if (this.#closed_at !== null && sent_at > this.#closed_at)
      this.#opened(climb, sent_at - this.#closed_at, sent_at, now);
    if (this.#window !== null) return;
    const { value } = climb;
    const is_held = is_paced && sent_at >= this.#tried_at;
    climb.accepted(
      Number.POSITIVE_INFINITY,
      is_held,
      now - this.#tried_at >= Math.min(this.#trial_ms, climb.is_rough ? GUESS_MS : Number.POSITIVE_INFINITY),
    );
    if (climb.value !== value) this.#tried_at = now;
    this.#use(this.#bucket.left(now), now);
  }

  /** The provider states, in the answer to a request that the rate had held, that most of what it takes is left: the rate is too low. */
  eased(sent_at: number, now: number): void {
    if (this.#climb === null || this.#window !== null || sent_at < this.#tried_at) return;
    this.#climb.reset(this.#climb.value * EASE, this.#climb.is_rough);
    this.#tried_at = now;
    this.#use(this.#bucket.left(now), now);
  }

  /** From one opening to the next a provider has taken what it takes in this time, whether bit by bit or at once. */
  #opened(climb: Climb, closed_ms: number, sent_at: number, now: number): void {
    const { from, taken, later } = this.#cycle;
    this.#closed_at = null;
    this.#cycle = { from: sent_at, taken: Math.max(1, later), later: 0 };
    // Without the time for which the rate itself held the next request.
    const lost_ms = Math.max(Math.min(closed_ms, TRIAL.least_ms), closed_ms - 1 / climb.value);
    this.#trial_ms = Math.min(TRIAL.most_ms, Math.max(TRIAL.times * lost_ms, this.#trial_ms * 0.7));
    const period_ms = sent_at - from;
    const is_same = Math.abs(taken - this.#last_taken) < taken * WINDOW.differs;
    // What slides, or is shared with others, looks like a window at times.
    if (this.#window !== null && !is_same) this.#doubts = Math.min(this.#doubts * 2 + 5, WINDOW.doubts);
    const is_whole = is_same && taken >= WINDOW.least && closed_ms > WINDOW.closed_ms;
    this.#equal = is_whole ? this.#equal + 1 : 0;
    this.#window = this.#equal > this.#doubts ? { taken, period_ms } : null;
    this.#last_taken = taken;
    this.#tries_more = taken >= FEW;
    this.#use(0, now);
    if (!this.#is_first) return;
    this.#is_first = false;
    // Of a first burst others may have taken all; the one that is accepted now counts.
    climb.reset(Math.min(climb.value, Math.max(1, taken) / Math.max(1_000, period_ms)), true);
    this.#bucket.set(climb.value * closed_ms - 1, now);
  }

  /** What was sent then is not taken. `is_news`: whether it says anything of the rate. */
  refused(sent_at: number, is_news: boolean, retry_after_ms: number, now: number): void {
    this.#cycle[this.#closed_at !== null && sent_at > this.#closed_at ? 'later' : 'taken'] -= 1;
    if (!is_news) return;
    // Knocking at a closed door says nothing new.
    if (this.#closed_at !== null) return this.paid();
    const { from, taken } = this.#cycle;
    if (this.#climb === null) {
      if (taken <= 0) return;
      this.#climb = new Climb(1, 1e-6, 0);
      this.#climb.reset(taken / Math.max(GUESS_MS, now - from + retry_after_ms), true);
      this.#bucket.size = taken;
    } else if (this.#window !== null) {
      this.#closed_at = now;
      this.#bucket.set(0, now);
      this.#bucket.rate = 1 / KNOCK_MS;
      return;
    } else this.#lower(this.#climb, (taken + 2) / Math.max(1, now - from), now);
    this.#closed_at = now;
    this.#tried_at = now;
    this.#use(0, now);
  }

  #lower(climb: Climb, measured: number, now: number): void {
    // Saved up while idle: the provider keeps less for later than was thought, its rate may be right.
    const has_saved = this.#bucket.size > 1 && now - this.#saved_at < Math.max(1_000, this.#trial_ms);
    if (has_saved) this.#bucket.size = Math.max(1, this.#bucket.size / 4);
    const most = climb.value * (has_saved ? 1 : 0.97);
    climb.refused(Math.max(climb.value * 0.5, Math.min(most, measured)));
  }

  /** Counts a refusal that this rate should have prevented. */
  paid(): void {
    this.#climb?.paid();
  }

  #use(left: number, now: number): void {
    this.#bucket.set(left, now);
    this.#bucket.rate = (this.rate ?? 0) * (this.#window === null ? 1 : WINDOW.hurry);
  }
}

/** A limit that a provider states with its answers. */
export class Allowance {
  readonly #bucket = new Bucket();
  #told: ToldLimit;
  /** Sent in all. */
  spent = 0;
  /** Whether it comes back at once, at the end of a window, instead of bit by bit. */
  #is_window = false;
  /** When the window ends, and when it began. */
  #end: number | null = null;
  #began = Number.NEGATIVE_INFINITY;
  #implied: number | null = null;

  constructor(told: ToldLimit) {
    this.#told = told;
    this.#bucket.rate = told.limit / MINUTE_MS;
  }

  /** `at`: when this was so. `since`: what was sent after the request whose answer says this, and is not yet in it. */
  tell(told: ToldLimit, since: number, at: number): void {
    if (at < this.#began) return;
    const used = told.limit - told.remaining;
    const { reset_ms } = told;
    this.#told = told;
    this.#bucket.size = told.limit;
    this.#bucket.set(told.remaining - since, at);
    if (reset_ms === null || reset_ms === 0 || used <= 0) return;
    // What comes back bit by bit does so at one rate; in a window the same time stays for ever more of it.
    const implied = used / reset_ms;
    if (reset_ms >= (told.is_coarse ? 5_000 : 50)) {
      const ratio = implied / (this.#implied ?? implied);
      if (ratio > 1.5 || ratio < 0.66) this.#is_window = true;
      this.#implied = implied;
      this.#bucket.rate = implied;
    }
    if (this.#is_window) [this.#end, this.#bucket.rate] = [at + reset_ms + LATE_MS, 0];
  }

  wait(units: number, now: number): number {
    if (this.#end !== null && now >= this.#end) {
      [this.#began, this.#end, this.#implied] = [this.#end, null, null];
      this.#bucket.set(this.#told.limit, now);
      this.#bucket.rate = this.#told.limit / MINUTE_MS;
    }
    const wait = this.#bucket.wait(units, now);
    return this.#end === null ? wait : Math.min(wait, this.#end - now);
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
