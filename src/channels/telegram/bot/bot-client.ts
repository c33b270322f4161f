import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Api, type RawApi } from 'grammy';
import { type BotFailure, botFailure } from './bot-failure.ts';
import { Pacing } from './pacing.ts';
import type { TelegramTiming } from './telegram-timing.ts';

export type BotAnswer<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly failure: BotFailure };

/** The signal that the library takes; Node's own is one, its type says otherwise. */
export type BotSignal = NonNullable<Parameters<RawApi['getMe']>[0]>;
export type BotCall<T> = (api: RawApi, signal: BotSignal) => Promise<T>;

/**
 * Every call of the Bot API goes through here. Nothing throws. After a 429 to anything that is sent, nothing more is sent by anybody
 * before the time is up: such a call ends in `flood` with what is left of it.
 */
export class BotClient {
  readonly #api: Api;
  readonly #token: string;
  readonly #timing: TelegramTiming;
  readonly #agent: HttpAgent;
  readonly #pacing: Pacing;
  readonly #closing = new AbortController();
  #closed_until = 0;

  constructor(token: string, api_root: string | undefined, timing: TelegramTiming) {
    const root = api_root?.replace(/\/+$/, '');
    this.#agent = new (root?.startsWith('http:') ? HttpAgent : HttpsAgent)({ keepAlive: true });
    this.#api = new Api(token, {
      ...(root === undefined ? {} : { apiRoot: root }),
      baseFetchConfig: { agent: this.#agent },
    });
    this.#token = token;
    this.#timing = timing;
    this.#pacing = new Pacing(timing);
  }

  /** What only asks. `time_ms`: its own time limit. */
  async ask<T>(call: BotCall<T>, signal: AbortSignal, time_ms = this.#timing.call_ms): Promise<BotAnswer<T>> {
    const stop = new AbortController();
    let timed_out = false;
    const abort = () => stop.abort();
    const timer = setTimeout(() => {
      timed_out = true;
      stop.abort();
    }, time_ms);
    const signals = [signal, this.#closing.signal];
    for (const one of signals) one.addEventListener('abort', abort, { once: true });
    try {
      if (signals.some((one) => one.aborted)) return { ok: false, failure: { type: 'aborted' } };
      return { ok: true, result: await call(this.#api.raw, stop.signal as BotSignal) };
    } catch (error) {
      const failure: BotFailure = signals.some((one) => one.aborted)
        ? { type: 'aborted' }
        : botFailure(error, this.#token, timed_out);
      return { ok: false, failure };
    } finally {
      clearTimeout(timer);
      for (const one of signals) one.removeEventListener('abort', abort);
    }
  }

  /** What people notice, and no message: it is not paced. */
  async send<T>(call: BotCall<T>, signal: AbortSignal): Promise<BotAnswer<T>> {
    const after_ms = this.held_ms();
    if (after_ms > 0) return { ok: false, failure: { type: 'flood', after_ms } };
    const answer = await this.ask(call, signal);
    if (!answer.ok && answer.failure.type === 'flood')
      this.#closed_until = Math.max(this.#closed_until, performance.now() + answer.failure.after_ms);
    return answer;
  }

  /** A message or an edit, when it is the turn of its chat. */
  async write<T>(chat: number, call: BotCall<T>, signal: AbortSignal): Promise<BotAnswer<T>> {
    const after_ms = this.held_ms();
    if (after_ms > 0) return { ok: false, failure: { type: 'flood', after_ms } };
    const either = AbortSignal.any([signal, this.#closing.signal]);
    if (!(await this.#pacing.take(chat, either))) return { ok: false, failure: { type: 'aborted' } };
    return await this.send(call, signal);
  }

  /** A message or an edit that nobody misses; null when it is not the turn of its chat. */
  async writeNow<T>(chat: number, call: BotCall<T>, signal: AbortSignal): Promise<BotAnswer<T> | null> {
    if (this.held_ms() > 0 || !this.#pacing.tryTake(chat)) return null;
    return await this.send(call, signal);
  }

  /** How long nothing may be sent; 0 when it may. */
  held_ms(): number {
    return Math.max(0, this.#closed_until - performance.now());
  }

  close(): void {
    this.#closing.abort();
    this.#agent.destroy();
  }
}
