import { sleep } from '../../../processes/waiting.ts';
import type { TelegramTiming } from './telegram-timing.ts';

const SECOND_MS = 1_000;
/** Number of chats beyond which those that were silent for a whole window are dropped. */
const CHATS_MAX = 1_000;

/** Limits the rate of messages per chat, per group and over all chats, in sliding windows. Groups have negative ids and a lower limit. */
export class Pacing {
  readonly #timing: TelegramTiming;
  /** Times of the last messages, over all chats and per chat; monotonic milliseconds, oldest first. */
  #all: number[] = [];
  readonly #chats = new Map<number, number[]>();

  constructor(timing: TelegramTiming) {
    this.#timing = timing;
  }

  /** Waits until the limits allow a message to the chat, and counts it; false when aborted. */
  async take(chat: number, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const wait_ms = this.#wait(chat, this.#timing.group_messages);
      if (wait_ms <= 0) {
        this.#note(chat);
        return true;
      }
      await sleep(wait_ms, signal);
    }
    return false;
  }

  /** Counts a message if the limits allow it now, else returns false. Leaves half of a group's limit to messages that must arrive. */
  tryTake(chat: number): boolean {
    if (this.#wait(chat, Math.ceil(this.#timing.group_messages / 2)) > 0) return false;
    this.#note(chat);
    return true;
  }

  #wait(chat: number, group_messages: number): number {
    const { chat_gap_ms, bot_per_second, group_window_ms } = this.#timing;
    const sent = this.#chats.get(chat) ?? [];
    const until = [
      (sent.at(-1) ?? Number.NEGATIVE_INFINITY) + chat_gap_ms,
      (this.#all.at(-bot_per_second) ?? Number.NEGATIVE_INFINITY) + SECOND_MS,
    ];
    if (chat < 0) until.push((sent.at(-group_messages) ?? Number.NEGATIVE_INFINITY) + group_window_ms);
    return Math.max(...until) - performance.now();
  }

  #note(chat: number): void {
    const { bot_per_second, group_messages, group_window_ms, chat_gap_ms } = this.#timing;
    const now = performance.now();
    this.#all = [...this.#all, now].slice(-bot_per_second);
    if (this.#chats.size >= CHATS_MAX) {
      const silent_since = now - Math.max(group_window_ms, chat_gap_ms);
      for (const [id, sent] of this.#chats) if ((sent.at(-1) ?? 0) < silent_since) this.#chats.delete(id);
    }
    this.#chats.set(chat, [...(this.#chats.get(chat) ?? []), now].slice(chat < 0 ? -group_messages : -1));
  }
}
