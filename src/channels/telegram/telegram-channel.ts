/** Telegram: calls of the Bot API (bot/), updates from people (inbound/), messages to people (outbound/), and formatted text (text/). */

import { keptIn } from '../../records/kept-in.ts';
import { clean } from '../../render/clean.ts';
import type {
  ChannelLog,
  ChatSessions,
  DeliverContext,
  DeliverResult,
  InboundChannel,
  Parcel,
} from '../channel.ts';
import { BOT_COMMANDS } from '../chat/bot-commands.ts';
import { BotClient } from './bot/bot-client.ts';
import { failureResult } from './bot/bot-failure.ts';
import { TELEGRAM_TIMING, type TelegramTiming } from './bot/telegram-timing.ts';
import { ChatLocks } from './chat-locks.ts';
import { CommandReplies } from './inbound/command-replies.ts';
import { UpdateHandler } from './inbound/update-handler.ts';
import { UpdatePoll } from './inbound/update-poll.ts';
import { type DeliverTools, deliverParcel } from './outbound/deliver-parcel.ts';
import { LiveMessage, type LiveTools } from './outbound/live-message.ts';

const REPLIES_MAX = 10_000;
const PROBE_MS = 5_000;

export interface TelegramOptions {
  readonly token: string;
  /** Ids of the users who may write, answer and be written to; empty means nobody. */
  readonly allow: readonly number[];
  /** URL of the Bot API; default Telegram's own. */
  readonly api_root?: string;
  readonly log: ChannelLog;
  readonly timing?: Partial<TelegramTiming>;
}

/** Opens the channel to the chats of a Telegram bot; addresses are chat ids. Sends no request. */
export function openTelegram(options: TelegramOptions): InboundChannel {
  return new TelegramChannel(options);
}

class TelegramChannel implements InboundChannel {
  readonly name = 'telegram';
  readonly #options: TelegramOptions;
  readonly #timing: TelegramTiming;
  readonly #allow: ReadonlySet<number>;
  readonly #client: BotClient;
  readonly #locks = new ChatLocks();
  /** Kept after listening has ended: the reply of a turn may come later. */
  #live: ReturnType<typeof liveMessages> | null = null;
  /** See `LiveTools.replies`. */
  readonly #replies = new Map<string, number>();

  constructor(options: TelegramOptions) {
    this.#options = options;
    this.#timing = { ...TELEGRAM_TIMING, ...options.timing };
    this.#allow = new Set(options.allow);
    this.#client = new BotClient(options.token, options.api_root, this.#timing);
  }

  check(address: string): string | null {
    const id = /^-?[1-9]\d{0,15}$/.test(address) ? Number(address) : Number.NaN;
    if (!Number.isSafeInteger(id))
      return `"${clean(address.slice(0, 40))}" is not a chat id of Telegram: write a number, such as telegram:123456789 for a person or telegram:-1001234567890 for a group`;
    // Groups have negative ids.
    if (id > 0 && !this.#allow.has(id))
      return `the Telegram user ${id} is not among those who are allowed: add ${id} to channels.telegram.allow`;
    return null;
  }

  async deliver(parcel: Parcel, context: DeliverContext): Promise<DeliverResult> {
    const problem = this.check(parcel.address);
    if (problem !== null) return { type: 'failed', error: problem };
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(this.#timing.deliver_ms)]);
    const release = await this.#locks.take(parcel.address, signal);
    if (release === null) return { type: 'retry', error: 'stopped before its turn came', after_ms: null };
    try {
      return await deliverParcel(this.#deliverTools(parcel), parcel, { ...context, signal });
    } catch {
      return { type: 'retry', error: 'the ledger could not note what was sent', after_ms: null };
    } finally {
      release();
    }
  }

  async probe(signal: AbortSignal): Promise<{ ok: boolean; text: string }> {
    const answer = await this.#client.ask((api, stop) => api.getMe(stop), signal, PROBE_MS);
    if (answer.ok) return { ok: true, text: `the bot is @${answer.result.username}` };
    const result = failureResult(answer.failure);
    return { ok: false, text: result.type === 'delivered' ? '' : result.error };
  }

  async listen(sessions: ChatSessions, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const tools = { client: this.#client, memory: sessions.memory, log, timing: this.#timing, signal };
    const poll = new UpdatePoll(tools);
    const live = liveMessages({ ...tools, locks: this.#locks, replies: this.#replies });
    const unwatch = sessions.watch((event) => live.of(event.chat, event.agent_id).handle(event));
    this.#live = live;
    try {
      const bot = await poll.identify();
      if (bot === null) return;
      void this.#offerCommands(signal);
      const answers = new CommandReplies(tools);
      const updates = new UpdateHandler({ ...tools, sessions, answers, allow: this.#allow, bot });
      await poll.run(bot.id, (id, update) => updates.take(id, update));
      await answers.settled();
    } finally {
      unwatch();
      live.close();
    }
  }

  async close(): Promise<void> {
    this.#live?.close();
    this.#client.close();
  }

  #deliverTools({ kind, address, agent_id }: Parcel): DeliverTools {
    const live = kind === 'reply' ? (this.#live?.of(address, agent_id) ?? null) : null;
    const onSent = (message_id: number) => {
      if (kind !== 'reply' || live !== null) return;
      if (this.#replies.size >= REPLIES_MAX) this.#replies.clear();
      this.#replies.set(`${address}:${agent_id}`, message_id);
    };
    return { client: this.#client, live, onSent };
  }

  /** Sets the menu that Telegram shows when a slash is typed. Best effort: the commands work without it. */
  async #offerCommands(signal: AbortSignal): Promise<void> {
    const commands = BOT_COMMANDS.map(({ name, usage, description }) => ({
      command: name,
      description: usage === '' ? description : `${usage}: ${description}`,
    }));
    const answer = await this.#client.send((api, stop) => api.setMyCommands({ commands }, stop), signal);
    if (!answer.ok && answer.failure.type !== 'aborted')
      this.#options.log('warn', 'the list of commands could not be set', { why: answer.failure.type });
  }
}

/** The live messages of all chats, one per agent. */
function liveMessages(tools: LiveTools) {
  const all = new Map<string, LiveMessage>();
  return {
    of: (chat: string, agent_id: string) =>
      keptIn(all, `${chat}:${agent_id}`, () => new LiveMessage(chat, agent_id, tools)),
    close: () => all.forEach((live) => void live.close()),
  };
}
