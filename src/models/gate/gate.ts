import { FairSlots } from '../../processes/fair-slots.ts';
import { backOff, sleep } from '../../processes/waiting.ts';
import type { Failure } from '../../records/agent/failure.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../model.ts';

export interface GateOptions {
  /** Maximum concurrent requests. */
  readonly concurrency: number;
  /** Maximum attempts of one request, the first included. */
  readonly attempts: number;
  readonly base_ms: number;
  readonly max_ms: number;
  /** The time in milliseconds, monotonic. */
  readonly now: () => number;
  /** Returns x with 0 ≤ x < 1. */
  readonly random: () => number;
  /** Resolves after `ms`, or as soon as the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export const GATE_DEFAULTS: GateOptions = {
  concurrency: 8,
  attempts: 6,
  base_ms: 500,
  max_ms: 60_000,
  now: () => performance.now(),
  random: Math.random,
  sleep,
};

/** Failures that a retry may fix. */
const TRANSIENT: ReadonlySet<Failure['kind']> = new Set(['rate_limit', 'overloaded', 'network']);

/**
 * One gate per provider and model, shared by all agents of the process. Limits concurrent requests, with trees taking turns, and keeps one back-off clock,
 * so that a 429 for one agent also delays its siblings instead of letting each run into it.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #slots: FairSlots;
  /** No request starts before this time. */
  #closed_until = 0;
  /** The reason for `#closed_until`. */
  #closed_by: Failure | null = null;

  constructor(options: Partial<GateOptions> = {}) {
    this.#options = { ...GATE_DEFAULTS, ...options };
    this.#slots = new FairSlots({ count: this.#options.concurrency });
  }

  async stream(
    model: Model,
    request: ModelRequest,
    onDelta: (delta: ModelDelta) => void,
  ): Promise<ModelOutcome> {
    const { signal, cache_key: tree = '' } = request;
    let tries = '';
    for (let attempt = 1; ; attempt += 1) {
      if (!(await this.#enter(tree, signal, tries, onDelta))) return { type: 'aborted' };
      let shown = false;
      const outcome = await model
        .stream(request, (delta) => {
          shown = true;
          onDelta(delta);
        })
        .finally(() => this.#slots.release(tree));
      if (outcome.type !== 'failure' || !mayPass(outcome.failure)) return outcome;
      if (signal.aborted) return { type: 'aborted' };
      if (attempt >= this.#options.attempts) return exhausted(outcome, attempt);
      const delay_ms = this.#delay(attempt, outcome.retry_after_ms);
      // A requested wait beyond the longest pause is returned as the failure: nobody waits an hour in silence.
      if (delay_ms === null) return outcome;
      if (shown) onDelta({ type: 'restart', reason: outcome.failure.error });
      tries = `, try ${attempt + 1} of ${this.#options.attempts}`;
      const until = this.#options.now() + delay_ms;
      // A broken connection affects only this request; a rate limit or overload every agent behind the gate, where each is told once.
      if (outcome.failure.kind === 'network') {
        onDelta({ type: 'waiting', reason: waitText(outcome.failure, delay_ms, tries), delay_ms });
        await this.#options.sleep(delay_ms, signal);
      } else if (until > this.#closed_until) {
        this.#closed_until = until;
        this.#closed_by = outcome.failure;
      }
    }
  }

  /** Milliseconds before the next attempt: full jitter, but at least as long as the provider requests. Null if that exceeds five times `max_ms`. */
  #delay(attempt: number, wish_ms: number | undefined): number | null {
    const { max_ms, random } = this.#options;
    const jitter = backOff(attempt, this.#options, random);
    if (wish_ms === undefined) return jitter;
    return wish_ms > max_ms * 5 ? null : wish_ms + jitter * 0.1;
  }

  /** Waits for a slot and the end of the back-off; false if aborted. `tries`: the number of this request's own attempts, for people. */
  async #enter(
    tree: string,
    signal: AbortSignal,
    tries: string,
    onDelta: (delta: ModelDelta) => void,
  ): Promise<boolean> {
    let waited = tries !== '';
    const full = (): void => {
      const { concurrency: most } = this.#options;
      waited = true;
      onDelta({ type: 'waiting', reason: `no slot: ${most} of ${most} requests at work`, delay_ms: null });
    };
    if (!(await this.#slots.acquire(tree, signal, full))) return false;
    for (;;) {
      const wait = this.#closed_until - this.#options.now();
      if (wait <= 0 || this.#closed_by === null) {
        if (waited) onDelta({ type: 'sent' });
        return true;
      }
      // Requests that were held together must not all retry at the same instant.
      const delay_ms = wait + this.#options.random() * Math.min(this.#options.base_ms, wait);
      onDelta({ type: 'waiting', reason: waitText(this.#closed_by, delay_ms, tries), delay_ms });
      waited = true;
      await this.#options.sleep(delay_ms, signal);
      if (signal.aborted) {
        this.#slots.release(tree);
        return false;
      }
    }
  }
}

function mayPass({ kind, retryable }: Failure): boolean {
  return retryable && TRANSIENT.has(kind);
}

const TROUBLE: Partial<Record<Failure['kind'], string>> = {
  network: 'the connection failed',
  rate_limit: 'the provider asked to slow down',
};

function waitText({ kind, error }: Failure, delay_ms: number, tries: string): string {
  const seconds = Math.round(delay_ms / 1_000);
  return `${TROUBLE[kind] ?? 'the provider has trouble'}: ${seconds} s${tries} (${error})`;
}

function exhausted(outcome: Extract<ModelOutcome, { type: 'failure' }>, attempts: number): ModelOutcome {
  const { failure } = outcome;
  return { ...outcome, failure: { ...failure, error: `${failure.error} (gave up after ${attempts} tries)` } };
}

/** The model with its gate in front; the contract is unchanged. */
export function gated(model: Model, gate: Gate): Model {
  return { ...model, stream: (request, onDelta) => gate.stream(model, request, onDelta) };
}
