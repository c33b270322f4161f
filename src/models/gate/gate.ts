import { FairSlots } from '../../processes/fair-slots.ts';
import { backOff, sleep } from '../../processes/waiting.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../model.ts';
import { type Closed, courseOf, exhausted, isLoading, waitText } from './failure-course.ts';
import { LimitController, type LimitTerms, type Ticket } from './limit-controller.ts';

export interface GateOptions extends LimitTerms {
  /** Maximum attempts of one request, the first included; after rate limits more, until `patience_ms` have passed, and while a server loads its model. */
  readonly attempts: number;
  /** A limit of requests a minute, met at its beginning, must not end a request. */
  readonly patience_ms: number;
  readonly base_ms: number;
  readonly max_ms: number;
  /** The time in milliseconds, monotonic. */
  readonly now: () => number;
  /** Returns x with 0 ≤ x < 1. */
  readonly random: () => number;
  /** Resolves after `ms`, or as soon as the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Called now and then with what was learnt, in words. */
  readonly onLearnt?: (learnt: string) => void;
  /** Asks the server, once, how it takes requests: how many at once, or that it queues them; null if it does not say. */
  readonly slots?: () => Promise<number | 'queues' | null>;
}

export const GATE_DEFAULTS: GateOptions = {
  start: 64,
  most: 1_024,
  opens: true,
  queue_ms: 15_000,
  attempts: 6,
  patience_ms: 75_000,
  base_ms: 500,
  max_ms: 60_000,
  now: () => performance.now(),
  random: Math.random,
  sleep,
};

/** Longest pause after a refusal that does not say how long. */
const KNOCK_MS = 4_000;
/** So many times the usual attempts, about two minutes, are the most of a request that is patient. */
const PATIENT = 5;
/** Refusals one after the other that hold only the requests that they met. */
const ALONE = 2;
/** Shorter pauses are not told to requests that wait already. */
const TOLD_MS = 2_000;
/** Time between two reports of what was learnt. */
const REPORT_MS = 60_000;
/** Time without an answer after which a broken connection means that the server had too much to do, and the next try is told in any case. */
const SILENCE_MS = 30_000;

/**
 * One gate per provider, key and model, shared by all agents of the process. Sends as much as the provider takes (`LimitController`), with trees taking
 * turns; after a refusal, all wait together instead of each running into it.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #slots: FairSlots;
  readonly #controller: LimitController;
  /** Tickets of requests that may start, until each does. */
  readonly #tickets: Ticket[] = [];
  /** Tells those that wait why, again. */
  readonly #waiting = new Set<() => void>();
  #closed: Closed | null = null;
  /** Refusals one after the other, with nothing accepted between them. */
  #refusals = 0;
  /** The last request that was sent before one of these came back. */
  #refused_until = 0;
  #accepted_at = 0;
  #timer: { readonly at: number; readonly stop: AbortController } | null = null;
  #asked = false;
  #reported_at = Number.NEGATIVE_INFINITY;

  constructor(options: Partial<GateOptions> = {}) {
    this.#options = { ...GATE_DEFAULTS, ...options };
    this.#controller = new LimitController(this.#options);
    const wait = () => this.#wait();
    this.#slots = new FairSlots({
      get count() {
        return wait() === 0 ? Number.POSITIVE_INFINITY : 0;
      },
      taken: () => {
        const is_wanted = this.#slots.waiting > 0;
        this.#tickets.push(this.#controller.send(this.#options.now(), is_wanted));
      },
    });
  }

  /** What was learnt of the provider, in words: `42 at once, 80 % of 4,000 requests a minute`. */
  get learnt(): string {
    return this.#controller.text(this.#options.now());
  }

  /** Requests at work, waiting, and at work at most. */
  get load(): { readonly at_work: number; readonly waiting: number; readonly limit: number } {
    const { at_work, limit } = this.#controller;
    return { at_work, waiting: this.#slots.waiting, limit };
  }

  async stream(
    model: Model,
    request: ModelRequest,
    onDelta: (delta: ModelDelta) => void,
  ): Promise<ModelOutcome> {
    const { signal, cache_key: tree = '' } = request;
    const { now, attempts, patience_ms } = this.#options;
    let tries = '';
    let first_refused = Number.POSITIVE_INFINITY;
    // One request at a time needs no answer, and a server that only knows models is not bothered.
    if (this.#controller.at_work > 0) this.#ask();
    for (let attempt = 1; ; attempt += 1) {
      const ticket = await this.#enter(tree, signal, tries, onDelta);
      if (ticket === null) return { type: 'aborted' };
      let shown = false;
      let outcome: ModelOutcome;
      let delay_ms: number | null = null;
      let holds_all = false;
      try {
        outcome = await this.#send(model, request, ticket, (delta) => {
          shown = true;
          onDelta(delta);
        });
        const course = courseOf(outcome);
        if (outcome.type !== 'failure' || course === 'give back') return outcome;
        delay_ms = this.#delay(attempt, outcome.retry_after_ms);
        // Who has waited for minutes is told why, and nobody is told of a shorter pause.
        if (delay_ms !== null && now() - ticket.sent_at > SILENCE_MS) delay_ms = Math.max(delay_ms, TOLD_MS);
        // Before the slot is free: the next request would be refused, too.
        holds_all = course === 'slow down' && delay_ms !== null && this.#close(outcome, delay_ms, ticket);
      } finally {
        this.#slots.release(tree);
        this.#schedule();
      }
      if (signal.aborted) return { type: 'aborted' };
      first_refused = Math.min(first_refused, now());
      // Those that others overtake must not give up before these.
      const since = Math.max(first_refused, this.#accepted_at);
      const is_patient =
        isLoading(outcome.failure) || (outcome.failure.kind === 'rate_limit' && now() - since < patience_ms);
      if (attempt >= attempts && !(is_patient && attempt < attempts * PATIENT))
        return exhausted(outcome, attempt);
      // A requested wait beyond the longest pause is returned as the failure: nobody waits an hour in silence.
      if (delay_ms === null) return outcome;
      if (shown) onDelta({ type: 'restart', reason: outcome.failure.error });
      tries = `, try ${attempt + 1}${attempt < attempts ? ` of ${attempts}` : ''}`;
      if (holds_all) continue;
      onDelta({ type: 'waiting', reason: waitText(outcome.failure, delay_ms, tries), delay_ms });
      await this.#options.sleep(delay_ms, signal);
    }
  }

  /** Sends one request and learns from what comes back. */
  async #send(
    model: Model,
    request: ModelRequest,
    ticket: Ticket,
    onDelta: (delta: ModelDelta) => void,
  ): Promise<ModelOutcome> {
    const { now } = this.#options;
    const accepted = (): void => {
      this.#refusals = 0;
      this.#accepted_at = now();
      this.#controller.accepted(ticket, now());
      if (this.#slots.waiting > 0) this.#schedule();
    };
    let has_begun = false;
    const begin = (): void => {
      if (has_begun) return;
      has_begun = true;
      accepted();
      this.#controller.begun(ticket, now());
    };
    let outcome: ModelOutcome | null = null;
    try {
      outcome = await model.stream(
        {
          ...request,
          onHeaders: (status, headers) => {
            this.#controller.headers(ticket, headers, now(), Date.now());
            if (status < 300) accepted();
            request.onHeaders?.(status, headers);
          },
        },
        (delta) => {
          if (delta.type === 'text' || delta.type === 'reasoning' || delta.type === 'call') begin();
          onDelta(delta);
        },
      );
    } finally {
      if (outcome?.type === 'answer') begin();
      this.#controller.ended(ticket, outcome?.type === 'answer' ? outcome.usage : null);
    }
    if (this.#controller.has_learnt && now() - this.#reported_at > REPORT_MS) {
      this.#reported_at = now();
      this.#options.onLearnt?.(this.learnt);
    }
    if (outcome.type !== 'failure') return outcome;
    const { kind, error: text } = outcome.failure;
    const { retry_after_ms } = outcome;
    if (courseOf(outcome) === 'slow down')
      this.#controller.refused(
        ticket,
        { type: kind === 'overloaded' ? kind : 'rate_limit', text, retry_after_ms },
        now(),
      );
    else if (kind === 'network' && !has_begun && now() - ticket.sent_at > SILENCE_MS)
      this.#controller.starved();
    return outcome;
  }

  /**
   * Closes the gate for all until the delay is over. False if only this request is to wait: one of many was refused without a time, which means a little
   * less, not a pause for all.
   */
  #close(outcome: Extract<ModelOutcome, { type: 'failure' }>, delay_ms: number, ticket: Ticket): boolean {
    const { now, random, base_ms } = this.#options;
    // Those sent before the last refusal came say nothing more.
    if (ticket.number > this.#refused_until) {
      this.#refusals += 1;
      this.#refused_until = this.#controller.sent;
    }
    const is_alone = this.#controller.at_work === 0;
    if (outcome.retry_after_ms === undefined && this.#refusals <= ALONE && !is_alone) return false;
    const knock_ms = backOff(this.#refusals, { base_ms, max_ms: KNOCK_MS }, random);
    const pause =
      outcome.retry_after_ms === undefined ? Math.min(Math.max(delay_ms, knock_ms), KNOCK_MS) : delay_ms;
    const until = now() + pause + random() * Math.min(base_ms, pause) * 0.1;
    if (until <= (this.#closed?.until ?? 0)) return true;
    this.#closed = { by: outcome.failure, until };
    if (pause >= TOLD_MS) for (const tell of this.#waiting) tell();
    this.#schedule();
    return true;
  }

  /** Milliseconds before the next attempt: full jitter, but at least as long as the provider requests. Null if that exceeds five times `max_ms`. */
  #delay(attempt: number, wish_ms: number | undefined): number | null {
    const { max_ms, random } = this.#options;
    const jitter = backOff(attempt, this.#options, random);
    if (wish_ms === undefined) return jitter;
    return wish_ms > max_ms * 5 ? null : wish_ms + jitter * 0.1;
  }

  /** Waits until the request may be sent; null if aborted. `tries`: the number of its own attempts, for people. */
  async #enter(
    tree: string,
    signal: AbortSignal,
    tries: string,
    onDelta: (delta: ModelDelta) => void,
  ): Promise<Ticket | null> {
    let waited = tries !== '';
    const tell = (): void => {
      const told = this.#reason(tries);
      if (told === null) return;
      waited = true;
      onDelta({ type: 'waiting', ...told });
    };
    const slot = this.#slots.acquire(tree, signal, () => {
      this.#waiting.add(tell);
      tell();
    });
    this.#schedule();
    const has_slot = await slot;
    this.#waiting.delete(tell);
    this.#schedule();
    if (!has_slot) return null;
    if (waited) onDelta({ type: 'sent' });
    return this.#tickets.shift() as Ticket;
  }

  /** Why a request waits; null if it is sent in a moment. */
  #reason(tries: string): { readonly reason: string; readonly delay_ms: number | null } | null {
    const now = this.#options.now();
    const { at_work, limit, is_opening } = this.#controller;
    const left = (this.#closed?.until ?? 0) - now;
    // What a refusal has taught may hold for longer than the pause after it.
    const paced_ms = is_opening || at_work >= limit ? 0 : this.#controller.wait(now);
    const wait_ms = Math.max(left, Number.isFinite(paced_ms) ? paced_ms : 0);
    if (this.#closed !== null && wait_ms > 0 && (left > 0 || tries !== ''))
      return { reason: waitText(this.#closed.by, wait_ms, tries), delay_ms: wait_ms };
    if (is_opening) return null;
    if (at_work < limit) return { reason: `no turn yet: ${this.learnt}`, delay_ms: null };
    return { reason: `no slot: ${at_work} of ${limit} requests at work`, delay_ms: null };
  }

  /** Milliseconds until one more request may be sent. After refusals one goes ahead. */
  #wait(): number {
    const now = this.#options.now();
    const { at_work } = this.#controller;
    if (this.#closed !== null && this.#refusals > 0 && at_work > 0) return Number.POSITIVE_INFINITY;
    return Math.max((this.#closed?.until ?? 0) - now, this.#controller.wait(now));
  }

  /** Looks again when the next request may be sent, as long as one waits. */
  #schedule(): void {
    const { now, sleep: rest } = this.#options;
    const wait = this.#slots.waiting === 0 ? Number.POSITIVE_INFINITY : this.#wait();
    const at = now() + wait;
    if (this.#timer !== null && (wait === Number.POSITIVE_INFINITY || at < this.#timer.at)) {
      this.#timer.stop.abort();
      this.#timer = null;
    }
    if (wait === Number.POSITIVE_INFINITY || this.#timer !== null) return;
    const timer = { at, stop: new AbortController() };
    this.#timer = timer;
    void rest(Math.ceil(wait), timer.stop.signal).then(() => {
      if (this.#timer !== timer) return;
      this.#timer = null;
      this.#slots.hand();
      this.#schedule();
    });
  }

  #ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    void this.#options.slots?.().then((said) => {
      if (said === 'queues') this.#controller.queues();
      else if (said !== null) this.#controller.stated(said);
    });
  }
}

/** The model with its gate in front; the contract is unchanged. */
export function gated(model: Model, gate: Gate): Model {
  return { ...model, gate, stream: (request, onDelta) => gate.stream(model, request, onDelta) };
}
