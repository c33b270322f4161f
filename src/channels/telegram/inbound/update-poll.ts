import { backOff, sleep } from '../../../processes/waiting.ts';
import type { ChannelLog, ChannelMemory } from '../../channel.ts';
import { isLedgerFailure } from '../../chat/press-outcome.ts';
import type { BotClient } from '../bot/bot-client.ts';
import { type BotFailure, TOKEN_REFUSED } from '../bot/bot-failure.ts';
import type { TelegramTiming } from '../bot/telegram-timing.ts';

export interface UpdatePollTools {
  readonly client: BotClient;
  readonly memory: ChannelMemory;
  readonly log: ChannelLog;
  readonly timing: TelegramTiming;
  readonly signal: AbortSignal;
}

type UpdateTaker = (update_id: number, update: unknown) => Promise<void>;

const ALLOWED = ['message', 'callback_query'] as const;
/** Time added to the duration of a long poll for its answer to arrive. */
const ANSWER_MS = 15_000;
/** An update id further than this below the offset begins a new numbering, as Telegram does after a week without updates. */
const REPEATS_MAX = 100_000;
/** Maximum tries for an update that fails for a reason other than the ledger. */
const TRIES = 8;

/**
 * Reads updates by long polling and passes them on one at a time. The offset is stored after each update was taken, and only then confirmed to
 * Telegram, so an update that a crash interrupts comes again.
 */
export class UpdatePoll {
  readonly #tools: UpdatePollTools;
  /** First update id that was not taken yet; 0 begins at Telegram's earliest unconfirmed update. */
  #offset = 0;
  #failures = 0;

  constructor(tools: UpdatePollTools) {
    this.#tools = tools;
  }

  /** Queries the bot's own user, with retries; null when aborted first. */
  async identify(): Promise<{ readonly id: number; readonly username: string } | null> {
    const { client, signal } = this.#tools;
    while (!signal.aborted) {
      const answer = await client.ask((api, stop) => api.getMe(stop), signal);
      if (answer.ok) return { id: answer.result.id, username: answer.result.username ?? '' };
      await this.#recover(answer.failure);
    }
    return null;
  }

  /** Reads until the signal aborts. Never rejects. */
  async run(bot_id: number, take: UpdateTaker): Promise<void> {
    const { client, timing, signal } = this.#tools;
    await this.#insist(async () => {
      this.#offset = await this.#readOffset(bot_id);
    });
    while (!signal.aborted) {
      const query = { timeout: timing.poll_s, allowed_updates: ALLOWED, offset: this.#offset };
      const time_ms = timing.poll_s * 1000 + ANSWER_MS;
      const answer = await client.ask((api, stop) => api.getUpdates(query, stop), signal, time_ms);
      if (!answer.ok) {
        await this.#recover(answer.failure);
        continue;
      }
      this.#failures = 0;
      const taken = await this.#takeAll(answer.result, take);
      // All updates were repeats: avoids a tight loop on a server that ignores the offset.
      if (!taken && answer.result.length > 0) await sleep(timing.back_off.base_ms, signal);
    }
  }

  /** Takes updates in order; resolves to whether any of them was new. */
  async #takeAll(updates: readonly { readonly update_id: number }[], take: UpdateTaker): Promise<boolean> {
    const { memory, signal, log } = this.#tools;
    let taken = false;
    for (const update of updates) {
      const id: unknown = update?.update_id;
      if (typeof id !== 'number' || !Number.isSafeInteger(id)) {
        log('warn', 'an update without a number was skipped');
        continue;
      }
      if (id < this.#offset && id >= this.#offset - REPEATS_MAX) continue;
      await this.#insist(() => take(id, update), id);
      if (signal.aborted) return taken;
      this.#offset = id + 1;
      taken = true;
      await this.#insist(() => memory.set('offset', String(this.#offset)));
    }
    return taken;
  }

  /** Reads the stored offset; 0 if there is none or it belongs to another bot. */
  async #readOffset(bot_id: number): Promise<number> {
    const { memory } = this.#tools;
    const reader = await memory.get('bot');
    if (reader !== null && reader !== String(bot_id)) await memory.set('offset', null);
    if (reader !== String(bot_id)) await memory.set('bot', String(bot_id));
    const offset = Number(await memory.get('offset'));
    return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
  }

  /**
   * Retries the action until it succeeds or the signal aborts. An update (`update_id`) that keeps failing for a reason other than the ledger is
   * skipped after `TRIES` tries, so that it does not hold up all others.
   */
  async #insist(action: () => Promise<void>, update_id: number | null = null): Promise<void> {
    const { log, timing, signal } = this.#tools;
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        return await action();
      } catch (error) {
        if (signal.aborted) return;
        const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
        const fields = { update_id, error: code ?? name };
        const is_ledger = isLedgerFailure(error);
        if (update_id !== null && !is_ledger && tries >= TRIES)
          return log('error', 'an update cannot be handled: skipped', fields);
        if (is_ledger) log('warn', 'the ledger cannot be used now: retrying', fields);
        else log('warn', 'an update cannot be handled: retrying', fields);
        await sleep(backOff(tries, timing.back_off), signal);
      }
    }
  }

  async #recover(failure: BotFailure): Promise<void> {
    this.#failures += 1;
    await sleep(this.#logged(failure), this.#tools.signal);
  }

  /** Logs why nothing could be read; returns the milliseconds to wait before the next try. */
  #logged(failure: BotFailure): number {
    const { log, timing } = this.#tools;
    switch (failure.type) {
      case 'aborted':
        return 0;
      case 'unauthorized':
        log('error', TOKEN_REFUSED);
        return timing.refused_ms;
      case 'conflict':
        log('warn', 'another process or a webhook receives the messages of this bot; retrying', {
          error: failure.error,
        });
        return timing.conflict_ms;
      case 'flood':
        log('warn', 'Telegram asked to slow down', { after_ms: failure.after_ms });
        return failure.after_ms;
      default:
        log('warn', 'messages cannot be read from Telegram; retrying', { error: failure.error });
        return backOff(this.#failures, timing.back_off);
    }
  }
}
