import type { Gate } from '../../../src/models/gate/gate.ts';
import type { Headers } from '../../../src/models/gate/rate-headers.ts';
import type { Model, ModelOutcome } from '../../../src/models/model.ts';
import { Random } from '../../sim/random.ts';
import { ask } from '../protocols.ts';
import type { FakeTime } from './fake-time.ts';

export interface HiddenLimits {
  /** Requests in each `period_ms`. */
  readonly requests?: number;
  /** Tokens in each `period_ms`. */
  readonly tokens?: number;
  readonly period_ms?: number;
  /** A bucket that fills, a fixed window, or one that slides with each request (which counts requests only). */
  readonly form?: 'bucket' | 'window' | 'sliding';
  /** How much of the first window has passed at the beginning. */
  readonly phase_ms?: number;
  /** Requests that a bucket holds at most; without it, those of a period. */
  readonly burst?: number;
  readonly at_once?: number;
  /** Answers at once; more wait on the server. */
  readonly slots?: number;
  readonly tells?: 'nothing' | 'retry-after' | 'headers';
  /** What a refusal says. */
  readonly text?: string;
  /** Share of requests for which the server has too much to do, whatever is sent. */
  readonly overloaded?: number;
}

export interface Answers {
  readonly first_token_ms?: number;
  readonly answer_ms?: number;
  readonly tokens_each?: number;
  /** How much the times vary, and the tokens: 0 is not at all, 1 from about a quarter to four times. */
  readonly spread?: number;
  readonly token_spread?: number;
  readonly seed?: string;
}

/** The way of a request to the server, and back. */
export const WAY_MS = 20;

/** A server whose limits its clients do not know. Time is that of `time`. */
export class HiddenServer {
  limits: HiddenLimits;
  readonly #time: FakeTime;
  readonly #answers: Required<Answers>;
  readonly #random: Random;
  refused: number[] = [];
  accepted: { at: number; tree: string }[] = [];
  /** Tokens, and time for answers, of all that were accepted. */
  tokens = 0;
  work_ms = 0;
  #at_work = 0;
  highest = 0;
  #queue: (() => void)[] = [];
  #serving = 0;
  #left: { requests: number; tokens: number; at: number } | null = null;
  /** The first accepted request that a sliding window still counts. */
  #first = 0;

  constructor(time: FakeTime, limits: HiddenLimits, answers: Answers = {}) {
    this.#time = time;
    this.limits = limits;
    const usual = { first_token_ms: 300, answer_ms: 1_000, tokens_each: 1_000, spread: 0, token_spread: 0 };
    this.#answers = { ...usual, seed: 'server', ...answers };
    this.#random = new Random(this.#answers.seed);
  }

  #refill() {
    const { requests = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY, burst } = this.limits;
    const { period_ms = 60_000, form = 'bucket', phase_ms = 0 } = this.limits;
    const now = this.#time.now;
    const start = Math.floor((now + phase_ms) / period_ms) * period_ms - phase_ms;
    const most = {
      requests: Math.min(requests, burst ?? requests),
      tokens: Math.min(tokens, (burst ?? tokens) * (burst === undefined ? 1 : this.#answers.tokens_each)),
    };
    this.#left ??= { ...most, at: form === 'window' ? start : now };
    const passed = now - this.#left.at;
    if (form === 'window') {
      if (start > this.#left.at) this.#left = { requests, tokens, at: start };
    } else if (form === 'bucket') {
      const fill = (left: number, each: number, full: number) =>
        each === Number.POSITIVE_INFINITY ? each : Math.min(full, left + (each * passed) / period_ms);
      this.#left = {
        requests: fill(this.#left.requests, requests, most.requests),
        tokens: fill(this.#left.tokens, tokens, most.tokens),
        at: now,
      };
    } else {
      while ((this.accepted[this.#first]?.at ?? now) <= now - period_ms) this.#first += 1;
      this.#left = { requests: requests - (this.accepted.length - this.#first), tokens, at: now };
    }
    return this.#left;
  }

  /** Milliseconds until so many more units fit, and until everything is there again. */
  #reset(kind: 'requests' | 'tokens', units: number): { next: number; full: number } {
    const left = this.#refill();
    const most = this.limits[kind];
    if (most === undefined) return { next: 0, full: 0 };
    const { period_ms = 60_000, form = 'bucket' } = this.limits;
    const missing = units - left[kind];
    if (form === 'window') {
      const full = left.at + period_ms - this.#time.now;
      return { next: missing <= 0 ? 0 : full, full };
    }
    if (form === 'sliding') {
      const until = (at = this.#time.now - period_ms) => at + period_ms - this.#time.now;
      return {
        next: missing <= 0 ? 0 : until(this.accepted[this.#first]?.at),
        full: until(this.accepted.at(-1)?.at),
      };
    }
    const per = period_ms / most;
    return { next: Math.max(0, missing * per), full: (most - left[kind]) * per };
  }

  #headers(is_refused: boolean, units: number): Headers {
    const { tells = 'nothing' } = this.limits;
    if (tells === 'nothing') return {};
    const [requests, tokens] = [this.#reset('requests', 1), this.#reset('tokens', units)];
    const wait = Math.ceil(Math.max(requests.next, tokens.next) / 1_000);
    const said: Record<string, string> = is_refused && wait > 0 ? { 'retry-after': `${wait}` } : {};
    if (tells === 'retry-after') return said;
    const left = this.#refill();
    for (const [kind, { full }] of [
      ['requests', requests],
      ['tokens', tokens],
    ] as const) {
      if (this.limits[kind] === undefined) continue;
      said[`x-ratelimit-limit-${kind}`] = `${this.limits[kind]}`;
      said[`x-ratelimit-remaining-${kind}`] = `${Math.max(0, Math.floor(left[kind]))}`;
      said[`x-ratelimit-reset-${kind}`] = `${(full / 1000).toFixed(3)}s`;
    }
    return said;
  }

  /** A factor around 1. */
  #vary(spread: number): number {
    if (spread === 0) return 1;
    const sum = this.#random.next() + this.#random.next() + this.#random.next();
    return Math.exp((sum - 1.5) * spread);
  }

  readonly model: Model = {
    ...{ id: 'hidden/m', context_window: null, tells_cost: true },
    stream: async ({ onHeaders, cache_key = '' }, onDelta): Promise<ModelOutcome> => {
      const time = this.#time;
      const { first_token_ms, answer_ms, tokens_each, spread, token_spread } = this.#answers;
      const way = () => time.sleep(WAY_MS + (spread === 0 ? 0 : this.#random.next() * 5));
      const factor = this.#vary(spread);
      const units = Math.round(tokens_each * this.#vary(token_spread));
      await way();
      const { at_once = Number.POSITIVE_INFINITY, slots = Number.POSITIVE_INFINITY } = this.limits;
      const { overloaded = 0, text = '429: too many' } = this.limits;
      if (overloaded > 0 && this.#random.chance(overloaded)) {
        this.refused.push(time.now);
        await way();
        onHeaders?.(529, {});
        return { type: 'failure', failure: { kind: 'overloaded', error: '529', retryable: true } };
      }
      const left = this.#refill();
      if (left.requests < 1 - 1e-9 || left.tokens < units - 1e-9 || this.#at_work >= at_once) {
        this.refused.push(time.now);
        const headers = this.#headers(true, units);
        await way();
        onHeaders?.(429, headers);
        const seconds = headers['retry-after'];
        const wish = seconds === undefined ? {} : { retry_after_ms: Number(seconds) * 1_000 };
        return { type: 'failure', failure: { kind: 'rate_limit', error: text, retryable: true }, ...wish };
      }
      left.requests -= 1;
      left.tokens -= units;
      this.tokens += units;
      this.work_ms += (first_token_ms + answer_ms) * factor;
      this.#at_work += 1;
      this.highest = Math.max(this.highest, this.#at_work);
      this.accepted.push({ at: time.now, tree: cache_key });
      if (this.#serving >= slots) await new Promise<void>((resolve) => this.#queue.push(resolve));
      this.#serving += 1;
      const headers = this.#headers(false, units);
      await time.sleep(first_token_ms * factor);
      onHeaders?.(200, headers);
      onDelta({ type: 'text', text: 'hi' });
      await time.sleep(answer_ms * factor);
      this.#at_work -= 1;
      this.#serving -= 1;
      this.#queue.shift()?.();
      const usage = { input: units * 0.8, output: units * 0.2, cached: 0, reasoning: 0, cost_usd: null };
      return {
        ...{ type: 'answer', content: { model: 'm', parts: [] }, usage, finish: 'stop' },
      } as ModelOutcome;
    },
  };
}

/** Sends as many requests as agents do: all that are ready, in trees that take turns. Returns the outcomes. */
export async function sendAll(
  gates: readonly Gate[],
  model: Model,
  count: number,
  tree: (index: number) => string = () => 'one',
): Promise<readonly ModelOutcome[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      (gates[index % gates.length] as Gate).stream(
        model,
        { ...ask(), cache_key: tree(index) },
        () => undefined,
      ),
    ),
  );
}
