import { backOff, sleep } from '../../../processes/waiting.ts';
import type { ChannelLog } from '../../channel.ts';
import type { BotAnswer, BotClient } from '../bot/bot-client.ts';
import type { TelegramTiming } from '../bot/telegram-timing.ts';
import { sendNew } from '../outbound/outgoing-message.ts';
import { textMessages } from '../outbound/parcel-messages.ts';
import type { FormattedText } from '../text/formatted-text.ts';

const TRIES = 6;
/** Answers that wait in one chat; who asks for more at once gets none. */
const WAITING_MAX = 50;

/**
 * What is said in answer to commands and buttons: in order within a chat, beside the reading of further updates, and only as long as this
 * process lives. What was done does not depend on its answer.
 */
export class Answers {
  readonly #client: BotClient;
  readonly #log: ChannelLog;
  readonly #back_off: TelegramTiming['back_off'];
  readonly #signal: AbortSignal;
  readonly #chats = new Map<number, { last: Promise<void>; waiting: number }>();

  constructor(client: BotClient, log: ChannelLog, back_off: TelegramTiming['back_off'], signal: AbortSignal) {
    this.#client = client;
    this.#log = log;
    this.#back_off = back_off;
    this.#signal = signal;
  }

  say(chat: number, text: FormattedText): void {
    for (const message of textMessages(text))
      this.later(chat, () =>
        this.#client.write(chat, (api, stop) => sendNew(api, chat, message, stop), this.#signal),
      );
  }

  /** Does it when what was said in the chat before is sent. */
  later(chat: number, send: () => Promise<BotAnswer<unknown>>): void {
    const queue = this.#chats.get(chat) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= WAITING_MAX) return;
    this.#chats.set(chat, queue);
    queue.waiting += 1;
    queue.last = queue.last.then(async () => {
      await this.now(send);
      queue.waiting -= 1;
      if (queue.waiting === 0) this.#chats.delete(chat);
    });
  }

  /** Does it at once, and again where that may help. Never rejects. */
  async now(send: () => Promise<BotAnswer<unknown>>): Promise<void> {
    for (let tries = 1; !this.#signal.aborted; tries += 1) {
      const answer = await send();
      if (answer.ok) return;
      const { failure } = answer;
      if (failure.type === 'aborted') return;
      const may_help = failure.type === 'flood' || failure.type === 'transient';
      if (!may_help || tries === TRIES) {
        const error = 'error' in failure ? failure.error : failure.type;
        this.#log('warn', 'an answer could not be sent to Telegram', { error });
        return;
      }
      const wait_ms = failure.type === 'flood' ? failure.after_ms : backOff(tries, this.#back_off);
      await sleep(wait_ms, this.#signal);
    }
  }

  /** Resolves when nothing waits any more. */
  async settled(): Promise<void> {
    await Promise.all([...this.#chats.values()].map(({ last }) => last));
  }
}
