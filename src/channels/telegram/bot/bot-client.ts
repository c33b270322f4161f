import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Api, type RawApi } from 'grammy';
import { proxyOptions } from '../../../processes/hosts/proxies.ts';
import { type BotFailure, botFailure } from './bot-failure.ts';
import { Pacing } from './pacing.ts';
import type { TelegramTiming } from './telegram-timing.ts';

export type BotAnswer<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly failure: BotFailure };

/** Grammy's type of an abort signal, which Node's own type does not match. */
export type BotSignal = NonNullable<Parameters<RawApi['getMe']>[0]>;
export type BotCall<T> = (api: RawApi, signal: BotSignal) => Promise<T>;

/**
 * Makes all calls of the Bot API; never throws. After a 429 nothing is sent until the time that Telegram asked for has passed: until then, `send` and
 * `write` fail with `flood` and the time that is left.
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
    this.#agent = new (root?.startsWith('http:') ? HttpAgent : HttpsAgent)({
      keepAlive: true,
      ...proxyOptions(),
    });
    this.#api = new Api(token, {
      ...(root === undefined ? {} : { apiRoot: root }),
      baseFetchConfig: { agent: this.#agent },
    });
    this.#token = token;
    this.#timing = timing;
    this.#pacing = new Pacing(timing);
  }

  /** Makes a call that people do not notice, such as a query; neither paced nor held back after a 429. */
  async ask<T>(call: BotCall<T>, signal: AbortSignal, time_ms = this.#timing.call_ms): Promise<BotAnswer<T>> {
    const stopped = AbortSignal.any([signal, this.#closing.signal]);
    if (stopped.aborted) return { ok: false, failure: { type: 'aborted' } };
    const late = AbortSignal.timeout(time_ms);
    try {
      return { ok: true, result: await call(this.#api.raw, AbortSignal.any([stopped, late]) as BotSignal) };
    } catch (error) {
      if (stopped.aborted) return { ok: false, failure: { type: 'aborted' } };
      return { ok: false, failure: botFailure(error, this.#token, late.aborted) };
    }
  }

  /** Makes a call that people may notice but that writes no message, such as a typing indicator; not paced. */
  async send<T>(call: BotCall<T>, signal: AbortSignal): Promise<BotAnswer<T>> {
    const after_ms = this.held_ms();
    if (after_ms > 0) return { ok: false, failure: { type: 'flood', after_ms } };
    const answer = await this.ask(call, signal);
    if (!answer.ok && answer.failure.type === 'flood')
      this.#closed_until = Math.max(this.#closed_until, performance.now() + answer.failure.after_ms);
    return answer;
  }

  /** Sends a message or an edit; waits until the rate limits allow it. */
  async write<T>(chat: number, call: BotCall<T>, signal: AbortSignal): Promise<BotAnswer<T>> {
    const after_ms = this.held_ms();
    if (after_ms > 0) return { ok: false, failure: { type: 'flood', after_ms } };
    const either = AbortSignal.any([signal, this.#closing.signal]);
    if (!(await this.#pacing.take(chat, either))) return { ok: false, failure: { type: 'aborted' } };
    return await this.send(call, signal);
  }

  /** Sends a message or an edit that may be dropped: returns null if it would have to wait. */
  async writeNow<T>(chat: number, call: BotCall<T>, signal: AbortSignal): Promise<BotAnswer<T> | null> {
    if (this.held_ms() > 0 || !this.#pacing.tryTake(chat)) return null;
    return await this.send(call, signal);
  }

  /** Milliseconds until sending is allowed again after a 429; 0 if it is. */
  held_ms(): number {
    return Math.max(0, this.#closed_until - performance.now());
  }

  close(): void {
    this.#closing.abort();
    this.#agent.destroy();
  }
}
