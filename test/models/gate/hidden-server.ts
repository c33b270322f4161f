import type { Gate } from '../../../src/models/gate/gate.ts';
import type { Headers } from '../../../src/models/gate/rate-headers.ts';
import type { Model, ModelOutcome } from '../../../src/models/model.ts';
import { ask } from '../protocols.ts';

/** Time that passes only when nothing else can happen. */
export class FakeTime {
  now = 0;
  #order = 0;
  #timers: { at: number; order: number; ring: () => void }[] = [];

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      this.#order += 1;
      const timer = { at: this.now + Math.max(0, ms), order: this.#order, ring: resolve };
      this.#timers.push(timer);
      signal?.addEventListener('abort', () => {
        this.#timers = this.#timers.filter((one) => one !== timer);
        resolve();
      });
    });

  /** Runs until `done` or until nothing is left to wait for. */
  async run(done: Promise<unknown>): Promise<void> {
    let over = false;
    void done.finally(() => {
      over = true;
    });
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (over) return;
      if (this.#timers.length === 0) throw new Error('everybody waits for nothing');
      this.now = Math.min(...this.#timers.map(({ at }) => at));
      const due = this.#timers.filter(({ at }) => at <= this.now).sort((a, b) => a.order - b.order);
      this.#timers = this.#timers.filter(({ at }) => at > this.now);
      for (const { ring } of due) ring();
    }
  }
}

export interface HiddenLimits {
  /** Requests in each `period_ms`. */
  readonly requests?: number;
  /** Tokens in each `period_ms`. */
  readonly tokens?: number;
  readonly period_ms?: number;
  /** A fixed window, or a bucket that fills. */
  readonly form?: 'bucket' | 'window';
  readonly at_once?: number;
  /** Answers at once; more wait on the server. */
  readonly slots?: number;
  readonly first_token_ms?: number;
  readonly answer_ms?: number;
  readonly tells?: 'nothing' | 'retry-after' | 'headers';
  readonly tokens_each?: number;
}

/** A server whose limits its clients do not know. Time is that of `time`. */
export class HiddenServer {
  limits: HiddenLimits;
  readonly #time: FakeTime;
  refused: number[] = [];
  accepted: { at: number; tree: string }[] = [];
  #at_work = 0;
  highest = 0;
  #queue: (() => void)[] = [];
  #serving = 0;
  #left: { requests: number; tokens: number; at: number } | null = null;

  constructor(time: FakeTime, limits: HiddenLimits) {
    this.#time = time;
    this.limits = limits;
  }

  #refill() {
    const { requests = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY } = this.limits;
    const { period_ms = 60_000, form = 'bucket' } = this.limits;
    const now = this.#time.now;
    this.#left ??= {
      requests,
      tokens,
      at: form === 'window' ? Math.floor(now / period_ms) * period_ms : now,
    };
    const passed = now - this.#left.at;
    if (form === 'window') {
      if (passed >= period_ms) this.#left = { requests, tokens, at: Math.floor(now / period_ms) * period_ms };
    } else {
      const fill = (left: number, most: number) =>
        most === Number.POSITIVE_INFINITY ? most : Math.min(most, left + (most * passed) / period_ms);
      this.#left = {
        requests: fill(this.#left.requests, requests),
        tokens: fill(this.#left.tokens, tokens),
        at: now,
      };
    }
    return this.#left;
  }

  /** Milliseconds until one more request fits, and until everything is there again. */
  #reset(kind: 'requests' | 'tokens', units: number): { next: number; full: number } {
    const left = this.#refill();
    const most = this.limits[kind];
    if (most === undefined) return { next: 0, full: 0 };
    const { period_ms = 60_000, form = 'bucket' } = this.limits;
    if (form === 'window') {
      const full = left.at + period_ms - this.#time.now;
      return { next: left[kind] >= units ? 0 : full, full };
    }
    const per = period_ms / most;
    return { next: Math.max(0, (units - left[kind]) * per), full: (most - left[kind]) * per };
  }

  #headers(is_refused: boolean): Headers {
    const { tells = 'nothing', tokens_each = 1_000 } = this.limits;
    if (tells === 'nothing') return {};
    const [requests, tokens] = [this.#reset('requests', 1), this.#reset('tokens', tokens_each)];
    const wait = Math.ceil(Math.max(requests.next, tokens.next) / 100) / 10;
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

  readonly model: Model = {
    ...{ id: 'hidden/m', context_window: null, tells_cost: true },
    stream: async ({ onHeaders, cache_key = '' }, onDelta): Promise<ModelOutcome> => {
      const time = this.#time;
      const { first_token_ms = 300, answer_ms = 1_000, tokens_each = 1_000 } = this.limits;
      await time.sleep(20);
      const left = this.#refill();
      const { at_once = Number.POSITIVE_INFINITY, slots = Number.POSITIVE_INFINITY } = this.limits;
      if (left.requests < 1 - 1e-9 || left.tokens < tokens_each - 1e-9 || this.#at_work >= at_once) {
        this.refused.push(time.now);
        const headers = this.#headers(true);
        await time.sleep(20);
        onHeaders?.(429, headers);
        const seconds = headers['retry-after'];
        const wish = seconds === undefined ? {} : { retry_after_ms: Number(seconds) * 1_000 };
        const failure = { kind: 'rate_limit', error: '429: too many', retryable: true } as const;
        return { type: 'failure', failure, ...wish };
      }
      left.requests -= 1;
      left.tokens -= tokens_each;
      this.#at_work += 1;
      this.highest = Math.max(this.highest, this.#at_work);
      this.accepted.push({ at: time.now, tree: cache_key });
      if (this.#serving >= slots) await new Promise<void>((resolve) => this.#queue.push(resolve));
      this.#serving += 1;
      const headers = this.#headers(false);
      await time.sleep(first_token_ms);
      onHeaders?.(200, headers);
      onDelta({ type: 'text', text: 'hi' });
      await time.sleep(answer_ms);
      this.#at_work -= 1;
      this.#serving -= 1;
      this.#queue.shift()?.();
      const usage = {
        input: tokens_each * 0.8,
        output: tokens_each * 0.2,
        cached: 0,
        reasoning: 0,
        cost_usd: null,
      };
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
