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
/** Among so many requests this share has to be refused before fewer are sent. */
const OVERLOAD = { among: 20, share: 0.2 };
/** Levels within the first burst are rough. */
const BURST_MS = 2_000;
/** The last requests, of which as many times more have to be accepted as refused before their number at once counts as accepted. */
const DECIDED = { last: 64, times: 3 };
/** If it was not the number at once, it grows. */
const RAISE = 1.25;
/** A place at once is free again sooner than after such a time. */
const TIMED_MS = 5_000;
/** Share of what a provider states that is plenty. */
const PLENTY = 0.5;
const SAYS_AT_ONCE = /concurren|simultaneous|parallel|in[- ]flight/i;

/** A request that was sent. */
export interface Ticket {
  readonly number: number;
  readonly sent_at: number;
  /** Requests at work with it, without those that were refused. */
  level: number;
  /** What had been sent of each allowance, itself included. */
  readonly spent: ReadonlyMap<LimitKind, number>;
  /** Whether the rate held it. */
  readonly is_paced: boolean;
  /** Whether the number at once held others back. */
  readonly is_last: boolean;
  is_accepted: boolean;
}

export interface Refusal {
  readonly type: 'rate_limit' | 'overloaded';
  readonly text: string;
  readonly retry_after_ms: number | undefined;
}

/**
 * Finds out what a provider takes: requests at once, and requests and tokens over time. Each refusal is laid to one of them: to what the headers of the
 * answer state as used up; to the number at once, if as many were hardly ever accepted; else to the rate. Pure but for what it has learnt; times in
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
  readonly #tickets = new Set<Ticket>();
  #number = 0;
  /** Requests up to this number were sent before what was last learnt from a refusal. */
  #known_until = 0;
  #known_at = Number.NEGATIVE_INFINITY;
  /** Whether that was the number at once. */
  #room_is_blamed = true;
  /** When the first burst is over; null before the first refusal. */
  #clear_at: number | null = null;
  /** Whether the rate has held the next request. */
  #is_paced = false;
  /** The last requests that were accepted or refused. */
  readonly #decided: Ticket[] = [];
  /** Share of the last requests that were refused because the server has too much to do. */
  #overloaded = 0;
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
    return this.#allowances.size > 0 || this.#clear_at !== null;
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
    if (was_idle || this.#number === 1) this.#pace.idle(now);
    const is_paced = this.#is_paced;
    this.#is_paced = false;
    this.#pace.take(is_paced, now);
    const spent = new Map<LimitKind, number>();
    for (const [kind, allowance] of this.#allowances) {
      allowance.take(this.#cost[kind], now);
      spent.set(kind, allowance.spent);
    }
    const ticket: Ticket = {
      ...{ number: this.#number, sent_at: now, level: this.#at_work, spent },
      ...{ is_paced, is_last: is_wanted && this.#at_work >= this.limit, is_accepted: false },
    };
    this.#tickets.add(ticket);
    return ticket;
  }

  /** Takes what the headers of an answer state. `epoch`: the time since the epoch. */
  headers(ticket: Ticket, headers: Headers, now: number, epoch: number): void {
    // They tell how it stood when the request came.
    const at = ticket.sent_at;
    for (const told of toldLimits(headers, epoch - (now - at))) {
      const allowance = keptIn(this.#allowances, told.kind, () => new Allowance(told));
      const since = allowance.spent - (ticket.spent.get(told.kind) ?? 0);
      allowance.tell(told, since, at);
      if (told.kind === 'requests' && ticket.is_paced && told.remaining - since > told.limit * PLENTY)
        this.#pace.eased(ticket.sent_at, now);
    }
  }

  /** The server has begun to answer. */
  accepted(ticket: Ticket, now: number): void {
    if (ticket.is_accepted) return;
    ticket.is_accepted = true;
    this.#decide(ticket);
    this.#overloaded -= this.#overloaded / OVERLOAD.among;
    this.#pace.accepted(ticket.is_paced, ticket.sent_at, now);
    this.#room.accepted(this.#most, this.#room.is_trial ? ticket.level > this.#room.good : ticket.is_last);
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

  ended(ticket: Ticket, usage: Usage | null): void {
    this.#at_work -= 1;
    this.#tickets.delete(ticket);
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
    if (type === 'overloaded') return this.#overload(ticket);
    this.#opens = false;
    this.#clear_at ??= now + BURST_MS;
    for (const later of this.#tickets) if (later.number > ticket.number) later.level -= 1;
    const is_known = ticket.number <= this.#known_until || ticket.sent_at < this.#known_at;
    // Used up as the headers say; if they had said enough before, others use the same key.
    const used = [...this.#allowances].filter(([kind, one]) => one.wait(this.#cost[kind], now) > 0);
    if (used.some(([kind]) => is_known || !ticket.spent.has(kind))) return;
    if (!is_known) this.#decide(ticket);
    const is_room = is_known
      ? this.#room_is_blamed
      : used.length === 0 && this.#isRoom(ticket, text, retry_after_ms, now);
    this.#pace.refused(ticket.sent_at, !is_known && !is_room, retry_after_ms, now);
    if (is_known) (is_room ? this.#room : this.#pace).paid();
    else if (is_room) this.#room.refused(this.#at_work);
    // As many were accepted: the number was too small, if anything.
    else if (ticket.level >= this.#room.value * 0.9 - 1)
      this.#room.reset(Math.min(this.#most, this.#room.value * RAISE + 1), true);
    // The rest of the same burst: as many as are left were accepted.
    if (is_room) this.#room.lower(this.#at_work);
    if (is_known) return;
    this.#room_is_blamed = is_room;
    // What is sent before the rest of the burst is back, too.
    this.#known_at = is_room ? 2 * now - ticket.sent_at : now;
    this.#known_until = this.#number;
  }

  #decide(ticket: Ticket): void {
    this.#decided.push(ticket);
    if (this.#decided.length > DECIDED.last) this.#decided.shift();
  }

  /** Whether a refusal is for too many at once: as many were never accepted, or hardly. */
  #isRoom({ level }: Ticket, text: string, retry_after_ms: number, now: number): boolean {
    if (SAYS_AT_ONCE.test(text)) return true;
    if (this.#pace.is_spent || retry_after_ms >= TIMED_MS) return false;
    // Levels within the first burst are rough, and what is accepted may not be known yet.
    if (now < (this.#clear_at ?? 0)) return level > 1;
    const as_many = this.#decided.filter((one) => one.level >= level);
    const accepted = as_many.filter(({ is_accepted }) => is_accepted).length;
    return level > 1 && accepted < DECIDED.times * (as_many.length - accepted);
  }

  /** A few are refused whatever one sends: that is no limit. */
  #overload({ number }: Ticket): void {
    this.#overloaded += (1 - this.#overloaded) / OVERLOAD.among;
    if (this.#overloaded < OVERLOAD.share || number <= this.#known_until) return;
    this.#opens = false;
    this.#known_until = this.#number;
    this.#overloaded = 0;
    this.#room.refused(Math.max(this.#at_work, this.#room.value) * 0.7);
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
