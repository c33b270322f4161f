import { cutText } from '../../../records/text/cut-text.ts';
import { clean } from '../../../render/clean.ts';
import type { ChannelLog, ChatSessions } from '../../channel.ts';
import { readCommand } from '../../chat/bot-commands.ts';
import { runCommand } from '../../chat/chat-commands.ts';
import { isReply, pressOutcome, spoken } from '../../chat/press-outcome.ts';
import type { BotClient } from '../bot/bot-client.ts';
import { messageBody } from '../outbound/outgoing-message.ts';
import type { CommandReplies } from './command-replies.ts';
import { type Press, readIncoming, type Sender, type WrittenMessage } from './read-update.ts';

export interface UpdateHandlerTools {
  readonly sessions: ChatSessions;
  readonly client: BotClient;
  readonly answers: CommandReplies;
  readonly allow: ReadonlySet<number>;
  readonly bot: { readonly id: number; readonly username: string };
  readonly log: ChannelLog;
  readonly signal: AbortSignal;
}

/** Maximum strangers that are remembered so that each is logged once; further ones are not logged. */
const STRANGERS_MAX = 10_000;
/** Maximum characters of a notice that is shown to the person who pressed a button. */
const ALERT_MAX = 190;

/** Handles updates: messages go to the chat's session, commands and buttons take effect. People who are not allowed get no reply. */
export class UpdateHandler {
  readonly #tools: UpdateHandlerTools;
  readonly #strangers = new Set<number>();
  #album: string | null = null;

  constructor(tools: UpdateHandlerTools) {
    this.#tools = tools;
  }

  /** Rejects when the update must be retried: on any error that is not a reply to the person, such as an unreachable ledger. */
  async take(update_id: number, update: unknown): Promise<void> {
    const incoming = readIncoming(update);
    const { log } = this.#tools;
    if (incoming.type === 'malformed') return log('warn', 'an update was malformed: skipped', { update_id });
    if (incoming.type === 'nothing') return;
    if (!this.#mayWrite(incoming.from)) return;
    if (incoming.type === 'press') return await this.#press(incoming);
    try {
      await this.#message(update_id, incoming);
    } catch (error) {
      if (!isReply(error)) throw error;
      this.#say(incoming.chat, spoken(error));
    }
  }

  #mayWrite({ id }: Sender): boolean {
    const { allow, log } = this.#tools;
    if (allow.has(id)) return true;
    if (!this.#strangers.has(id) && this.#strangers.size < STRANGERS_MAX) {
      this.#strangers.add(id);
      log('info', 'ignored a message from a sender who is not in channels.telegram.allow', { sender: id });
    }
    return false;
  }

  async #message(update_id: number, message: WrittenMessage): Promise<void> {
    const { sessions, bot, answers } = this.#tools;
    const { chat, from, text } = message;
    if (text === null) {
      const again = message.album !== null && message.album === this.#album;
      this.#album = message.album;
      return again ? undefined : this.#say(chat, 'only text can be read');
    }
    const command = readCommand(text, bot.username);
    if (command === 'elsewhere') return;
    if (command !== null) {
      const place = { sessions, chat: String(chat), by: `telegram:${from.id}` };
      return answers.say(chat, await runCommand(place, command));
    }
    await sessions.say(String(chat), { id: `telegram-${bot.id}-${update_id}`, from: from.name, text });
  }

  async #press(press: Press): Promise<void> {
    const { sessions, client, answers, signal } = this.#tools;
    const tell = (text: string, show_alert = false) =>
      void answers.now(() =>
        client.send(
          (api, stop) => api.answerCallbackQuery({ callback_query_id: press.id, text, show_alert }, stop),
          signal,
        ),
      );
    try {
      const { chat, data, from } = press;
      const by = `telegram:${from.id}`;
      const { told, line } = await pressOutcome(sessions, {
        chat: String(chat),
        data,
        by,
        name: clean(from.name),
      });
      tell(told);
      if (line !== null) this.#showOutcome(press, line);
    } catch (error) {
      if (!isReply(error)) throw error;
      tell(cutText(spoken(error), ALERT_MAX), true);
    }
  }

  /** Replaces the buttons with the outcome. */
  #showOutcome({ chat, message }: Press, line: string): void {
    const { client, answers, signal } = this.#tools;
    if (message === null) return;
    const body = messageBody({ text: `${message.text}\n\n${line}`, entities: message.entities });
    answers.later(chat, () =>
      client.write(
        chat,
        (api, stop) => api.editMessageText({ chat_id: chat, message_id: message.id, ...body }, stop),
        signal,
      ),
    );
  }

  #say(chat: number, text: string): void {
    this.#tools.answers.say(chat, { text, entities: [] });
  }
}
