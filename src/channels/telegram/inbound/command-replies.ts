import { backOff, sleep } from '../../../processes/waiting.ts';
import type { FormattedText } from '../../chat/formatted-text.ts';
import { textMessages } from '../../chat/parcel-messages.ts';
import type { BotAnswer } from '../bot/bot-client.ts';
import { sendNew } from '../outbound/outgoing-message.ts';
import type { UpdatePollTools } from './update-poll.ts';

const TRIES = 6;
/** Maximum replies waiting in one chat; further ones are dropped. */
const WAITING_MAX = 50;

/**
 * Sends the replies to commands and buttons, in order within a chat and without holding up further updates. They are not stored: a command takes effect
 * whether or not its reply arrives.
 */
export class CommandReplies {
  readonly #tools: UpdatePollTools;
  readonly #chats = new Map<number, { last: Promise<void>; waiting: number }>();

  constructor(tools: UpdatePollTools) {
    this.#tools = tools;
  }

  say(chat: number, text: FormattedText): void {
    const { client, signal } = this.#tools;
    for (const message of textMessages(text))
      this.later(chat, () => client.write(chat, (api, stop) => sendNew(api, chat, message, stop), signal));
  }

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

  /** Sends without queueing, with at most `TRIES` tries while failures are transient. Never rejects. */
  async now(send: () => Promise<BotAnswer<unknown>>): Promise<void> {
    const { log, timing, signal } = this.#tools;
    for (let tries = 1; !signal.aborted; tries += 1) {
      const answer = await send();
      if (answer.ok) return;
      const { failure } = answer;
      if (failure.type === 'aborted') return;
      const is_transient = failure.type === 'flood' || failure.type === 'transient';
      if (!is_transient || tries === TRIES) {
        const error = 'error' in failure ? failure.error : failure.type;
        log('warn', 'an answer could not be sent to Telegram', { error });
        return;
      }
      const wait_ms = failure.type === 'flood' ? failure.after_ms : backOff(tries, timing.back_off);
      await sleep(wait_ms, signal);
    }
  }

  /** Resolves when no reply is waiting in any chat. */
  async settled(): Promise<void> {
    await Promise.all([...this.#chats.values()].map(({ last }) => last));
  }
}
