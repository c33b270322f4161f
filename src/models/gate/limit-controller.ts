import type { Usage } from '../../records/agent/usage.ts';
import { keptIn } from '../../records/kept-in.ts';
import { Climb } from './climb.ts';
import { Allowance, Pace } from './pacing.ts';
import { type Headers, type LimitKind, toldLimits } from './rate-headers.ts';

export interface LimitTerms {
  /** Requests at once before anything is known. */
  readonly start: number;
  /** Requests at once that are never exceeded. */
  readonly most: number;
  /** Whether more than `start` follow, one by one, as long as nothing speaks against it; a server that queues gets more only when it answers as fast as before. */
  readonly opens: boolean;
  /** Rise of the time to the first token, milliseconds, that means that a server queues. */
  readonly queue_ms: number;
}

/** Requests more a millisecond while nothing is refused: a refusal comes back before all are sent. */
const OPENING = 4;
const OPENING_STEP_MS = 4;
const OPENING_LATE_MS = 50;
const OPENING_IDLE_MS = 1_000;
/** The time to the first token of a server that queues is as many times that of one with nothing else to do. */
const QUEUE_FACTOR = 3;
const QUEUE_LEAST = 2;
const SMOOTH = 0.2;
/** What is known of tokens before the first answer. */
const NO_TOKENS = { 'input tokens': 0, 'output tokens': 0, tokens: 0, requests: 1 };
const SAYS_AT_ONCE = /concurren|simultaneous|parallel|in[- ]flight/i;

/** A request that was sent. */
export interface Ticket {
  readonly number: number;
  readonly sent_at: number;
  /** Requests at work with it. */
  readonly level: number;
  /** What had been sent of each allowance, itself included. */
  readonly spent: ReadonlyMap<LimitKind, number>;
  /** Whether the rate held it. */
  readonly is_paced: boolean;
  is_accepted: boolean;
}

export interface Refusal {
  readonly type: 'rate_limit' | 'overloaded';
  readonly text: string;
  readonly retry_after_ms: number | undefined;
}

/**
 * Finds out what a provider takes: requests at once, and requests and tokens over time. Each refusal is laid to one of them: to what the headers of the
 * answer state as used up; to the number at once, if as many were never accepted; else to the rate. Pure but for what it has learnt; times in
 * milliseconds, monotonic (docs/decisions/0056-the-gate-finds-the-limit.md).
 */
export class LimitController {
  readonly #terms: LimitTerms;
  readonly #room: Climb;
  readonly #pace = new Pace();
  readonly #allowances = new Map<LimitKind, Allowance>();
  #most: number;
  #opens: boolean;
  #opened_at = Number.NEGATIVE_INFINITY;
  #at_work = 0;
  #number = 0;
  /** Requests up to this number were sent before what was last learnt from a refusal. */
  #known_until = 0;
  /** Since then. */
  #since = { at: 0, sent: 0, refused: 0, accepted: 0 };
  /** The same until the first refusal. */
  #burst = this.#since;
  #blamed: 'room' | 'pace' | 'both' = 'both';
  /** Whether a refusal was clearly for too many at once; until then the number recovers quickly. */
  #room_is_known = false;
  /** Whether the rate has held the next request. */
  #is_paced = false;
  /** The most requests at once of which the last was accepted. */
  #accepted_level = 0;
  #cost: Readonly<Record<LimitKind, number>> = NO_TOKENS;
  #first_token = { least: Number.POSITIVE_INFINITY, recent: 0, samples: 0 };

  constructor(terms: LimitTerms) {
    this.#terms = terms;
    this.#most = terms.most;
    this.#opens = terms.opens;
    this.#room = new Climb(Math.min(terms.start, terms.most), 1, 1);
  }

  get at_work(): number {
    return this.#at_work;
  }

  /** Number of the last request. */
  get sent(): number {
    return this.#number;
  }

  /** Whether the provider has said or refused anything. */
  get has_learnt(): boolean {
    return this.#allowances.size > 0 || this.#pace.rate !== null;
  }

  /** Requests at once. */
  get limit(): number {
    return Math.floor(Math.min(this.#room.value, this.#most) + 1e-9);
  }

  /** Whether the number at once is still on its way up, without a refusal. */
  get is_opening(): boolean {
    return this.#opens && this.#room.value < this.#most;
  }

  /** Sets the number at once as a server states it. */
  stated(slots: number): void {
    this.#most = Math.min(this.#terms.most, slots);
    this.#room.reset(this.#most);
  }

  /** The server is one that queues: it gets more only as long as it answers as fast. */
  queues(): void {
    this.#opens = false;
  }

  /** Milliseconds until one more request may be sent: 0 if now, infinite if one must end first. */
  wait(now: number): number {
    if (this.#at_work >= this.limit) {
      if (!this.is_opening) return Number.POSITIVE_INFINITY;
      const passed = now - this.#opened_at;
      // Time in which nobody waited for room opens nothing, but a busy process may be late.
      if (passed > OPENING_IDLE_MS) this.#opened_at = now;
      if (passed < OPENING_STEP_MS || passed > OPENING_IDLE_MS) return OPENING_STEP_MS;
      this.#opened_at = now;
      const opened = Math.min(passed, OPENING_LATE_MS) * OPENING;
      this.#room.reset(Math.min(this.#most, this.#room.value + opened));
    }
    let wait = this.#pace.wait(now);
    if (wait > 0) this.#is_paced = true;
    for (const [kind, allowance] of this.#allowances)
      wait = Math.max(wait, allowance.wait(this.#cost[kind], now));
    return wait;
  }

  /** `is_wanted`: others wait. */
  send(now: number, is_wanted: boolean): Ticket {
    this.#at_work += 1;
    this.#number += 1;
    // Idle time says nothing of what is taken.
    const was_idle = this.#at_work === 1 && !this.#is_paced && !is_wanted;
    if (was_idle || this.#number === 1) this.#since = { ...this.#since, at: now, sent: 0, refused: 0 };
    this.#since.sent += 1;
    this.#pace.take(now);
    const spent = new Map<LimitKind, number>();
    for (const [kind, allowance] of this.#allowances) {
      allowance.take(this.#cost[kind], now);
      spent.set(kind, allowance.spent);
    }
    const is_paced = this.#is_paced;
    this.#is_paced = false;
    return {
      ...{ number: this.#number, sent_at: now, level: this.#at_work, spent },
      ...{ is_paced, is_accepted: false },
    };
  }

  /** Takes what the headers of an answer state. `epoch`: the time since the epoch. */
  headers(ticket: Ticket, headers: Headers, now: number, epoch: number): void {
    for (const told of toldLimits(headers, epoch)) {
      const allowance = keptIn(this.#allowances, told.kind, () => new Allowance(told, now));
      allowance.tell(told, allowance.spent - (ticket.spent.get(told.kind) ?? 0), now);
    }
  }

  /** The server has begun to answer. `is_wanted`: others wait. */
  accepted(ticket: Ticket, now: number, is_wanted: boolean): void {
    if (ticket.is_accepted) return;
    ticket.is_accepted = true;
    if (ticket.number > this.#known_until) this.#since.accepted += 1;
    this.#accepted_level = Math.max(this.#accepted_level, ticket.level);
    if (ticket.is_paced) this.#pace.accepted(now);
    if (!is_wanted || ticket.level < this.limit) return;
    if (this.#room_is_known || !this.#terms.opens) this.#room.accepted(this.#most);
    else this.#room.reset(Math.min(this.#most, this.#room.value + 1));
  }

  /** The first token has come: on a server that queues, later and later. */
  begun(ticket: Ticket, now: number): void {
    const took = now - ticket.sent_at;
    const { least, recent, samples } = this.#first_token;
    // Forgotten only where nothing queues: prompts grow, and models change.
    const forgets = ticket.level <= QUEUE_LEAST && least < took;
    const base = forgets ? least + (took - least) * SMOOTH : Math.min(took, least);
    const mean = samples === 0 ? took : recent + (took - recent) * SMOOTH;
    this.#first_token = { least: base, recent: mean, samples: samples + 1 };
    const bearable = base * QUEUE_FACTOR + this.#terms.queue_ms;
    if (mean <= bearable || samples < 4 || this.limit <= QUEUE_LEAST) return;
    this.#opens = false;
    // The samples of those that are already sent say the same.
    this.#first_token = { ...this.#first_token, recent: base, samples: -this.#at_work };
    const level = Math.min(this.#room.value, Math.max(ticket.level, 1));
    this.#room.reset(Math.max(QUEUE_LEAST, level * Math.max(0.5, bearable / mean)));
  }

  ended(usage: Usage | null): void {
    this.#at_work -= 1;
    if (usage === null) return;
    const smooth = (old: number, one: number) => (old === 0 ? one : old + (one - old) * SMOOTH);
    const { 'input tokens': input, 'output tokens': output } = this.#cost;
    const next = { input: smooth(input, usage.input - usage.cached), output: smooth(output, usage.output) };
    this.#cost = {
      ...{ requests: 1, 'input tokens': next.input, 'output tokens': next.output },
      tokens: next.input + next.output,
    };
  }

  /** Nothing came back for so long that the connection was given up: too much was sent. */
  starved(): void {
    this.#opens = false;
    this.#room.refused(this.#at_work * 0.5);
  }

  /** Learns from a refusal, after `ended`. */
  refused(ticket: Ticket, { type, text, retry_after_ms = 0 }: Refusal, now: number): void {
    this.#opens = false;
    const is_known = ticket.number <= this.#known_until;
    (is_known ? this.#burst : this.#since).refused += 1;
    if (type === 'overloaded') {
      if (is_known) return;
      this.#room.refused(Math.max(this.#at_work, this.#room.value) * 0.7);
      return this.#learnt(now, 'room');
    }
    // Used up as the headers say; if they had said enough before, others use the same key.
    const used = [...this.#allowances].filter(([kind, one]) => one.wait(this.#cost[kind], now) > 0);
    if (used.some(([kind]) => is_known || !ticket.spent.has(kind))) return;
    if (is_known) {
      // The rest of the same burst: as many as are left were accepted.
      if (this.#blamed !== 'pace') this.#room.reset(Math.min(this.#room.value, this.#at_work));
      if (this.#blamed === 'both') this.#guess(retry_after_ms, now);
      return;
    }
    // Knocking at a closed door says nothing new.
    if (this.#since.accepted === 0 && this.#pace.rate !== null) return;
    const { at, sent, refused } = this.#since;
    if (this.#pace.rate === null) {
      if (sent <= refused) return;
      this.#burst = this.#since;
      this.#room.reset(Math.min(this.#room.value, this.#at_work));
      this.#guess(retry_after_ms, now);
      return this.#learnt(now, 'both');
    }
    const is_new_level = used.length === 0 && ticket.level > Math.round(this.#accepted_level);
    const is_room = SAYS_AT_ONCE.test(text) || is_new_level;
    if (is_room) {
      this.#room_is_known = true;
      this.#room.refused(this.#at_work);
    } else {
      this.#pace.refused(sent - refused, Math.max(1, now - at), ticket.is_paced, now);
      this.#accepted_level -= (this.#accepted_level - this.#at_work) / 8;
    }
    this.#learnt(now, is_room ? 'room' : 'pace');
  }

  #guess(retry_after_ms: number, now: number): void {
    const { at, sent, refused } = this.#burst;
    this.#pace.guess(Math.max(1, sent - refused), Math.max(1_000, now - at + retry_after_ms), now);
  }

  #learnt(now: number, blamed: 'room' | 'pace' | 'both'): void {
    this.#known_until = this.#number;
    this.#blamed = blamed;
    this.#since = { at: now, sent: 0, refused: 0, accepted: 0 };
  }

  /** Such as `42 at once, 80 % of 4,000 requests a minute`. */
  text(now: number): string {
    const { rate } = this.#pace;
    const allowances = [...this.#allowances.values()].map((allowance) => allowance.text(now));
    const paced =
      rate !== null && allowances.length === 0 ? [`${Math.max(1, Math.round(rate * 60_000))} a minute`] : [];
    return [`${this.limit} at once`, ...allowances, ...paced].join(', ');
  }
}
