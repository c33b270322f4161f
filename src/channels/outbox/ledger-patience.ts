import { backOff, type Clock } from '../../processes/waiting.ts';
import type { ChannelLog } from '../channel.ts';

const BACK_OFF = { base_ms: 200, max_ms: 5_000 };

/** Asks a ledger that may be away for a while; an outage is one warning, however many questions meet it. */
export class LedgerPatience {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: ChannelLog;
  #away = false;

  constructor(clock: Clock, random: () => number, log: ChannelLog) {
    this.#clock = clock;
    this.#random = random;
    this.#log = log;
  }

  /** One question; undefined when the ledger did not answer it, or not before the signal aborted. No answer may be undefined. */
  once<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    return unlessAborted(this.#heard(ask), signal);
  }

  async #heard<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await ask();
      if (this.#away) this.#log('info', 'the ledger can be reached again');
      this.#away = false;
      return answer;
    } catch (error) {
      if (!this.#away) this.#log('warn', 'the ledger does not answer the outbox', { error: textOf(error) });
      this.#away = true;
      return undefined;
    }
  }

  /** Again and again until it is answered; undefined when the signal aborted before. */
  async ask<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    for (let tries = 1; !signal.aborted; tries += 1) {
      const answer = await this.once(ask, signal);
      if (answer !== undefined) return answer;
      await this.#pause(backOff(tries, BACK_OFF, this.#random), signal);
    }
    return undefined;
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(ms, resolve);
    await unlessAborted(promise, signal);
    cancel();
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    const abort = () => resolve(undefined);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then((value) => {
      signal.removeEventListener('abort', abort);
      resolve(value);
    });
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
