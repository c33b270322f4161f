import { backOff, type Clock } from '../../processes/waiting.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import type { Store } from '../../store/store.ts';
import type { ChannelLog } from '../channel.ts';

/** The part of the store that the outbox uses. */
export type DeliveryLedger = Pick<
  Store,
  'claimDeliveries' | 'noteDelivery' | 'endDelivery' | 'pendingChannels' | 'findRuns' | 'findAsks'
>;

const BACK_OFF = { base_ms: 200, max_ms: 5_000 };

/** Retries queries to a ledger that may be unreachable for a while. An outage is logged once, however many queries fail in it. */
export class LedgerRetry {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: ChannelLog;
  #unreachable = false;

  constructor(clock: Clock, random: () => number, log: ChannelLog) {
    this.#clock = clock;
    this.#random = random;
    this.#log = log;
  }

  /** One attempt; undefined when it failed or the signal aborted first. A query must not resolve to undefined. */
  once<T>(query: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    return unlessAborted(this.#attempt(query), signal, () => undefined);
  }

  async #attempt<T>(query: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await query();
      if (this.#unreachable) this.#log('info', 'the ledger can be reached again');
      this.#unreachable = false;
      return answer;
    } catch (error) {
      if (!this.#unreachable)
        this.#log('warn', 'the ledger does not answer the outbox', {
          error: error instanceof Error ? error.message : String(error),
        });
      this.#unreachable = true;
      return undefined;
    }
  }

  /** Repeats the query until it succeeds; undefined when the signal aborted first. */
  async untilAnswered<T>(query: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    for (let tries = 1; !signal.aborted; tries += 1) {
      const answer = await this.once(query, signal);
      if (answer !== undefined) return answer;
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = this.#clock.after(backOff(tries, BACK_OFF, this.#random), resolve);
      await unlessAborted(promise, signal, () => undefined);
      cancel();
    }
    return undefined;
  }
}
