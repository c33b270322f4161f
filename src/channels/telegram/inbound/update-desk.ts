import { CoppiceError } from '../../../records/coppice-error.ts';
import type { ChannelLog, ChatDesk } from '../../channel.ts';
import type { BotClient } from '../bot/bot-client.ts';
import { messageBody } from '../outbound/outgoing-message.ts';
import type { Answers } from './answers.ts';
import { runCommand } from './chat-commands.ts';
import { type Press, readIncoming, type Sender, type WrittenMessage } from './incoming.ts';
import { isLedgerTrouble } from './ledger-trouble.ts';
import { pressOutcome } from './press-outcome.ts';
import { readCommand } from './slash-command.ts';

export interface UpdateDeskTools {
  readonly desk: ChatDesk;
  readonly client: BotClient;
  readonly answers: Answers;
  readonly allow: ReadonlySet<number>;
  readonly bot: { readonly id: number; readonly username: string };
  readonly log: ChannelLog;
  readonly signal: AbortSignal;
}

/** Strangers that are remembered, so that each is logged once. */
const STRANGERS_MAX = 10_000;

/** Does what an update asks for. Only the people who are allowed are heard; nobody else gets any answer. */
export class UpdateDesk {
  readonly #tools: UpdateDeskTools;
  readonly #strangers = new Set<number>();
  #album: string | null = null;

  constructor(tools: UpdateDeskTools) {
    this.#tools = tools;
  }

  /** Resolves when the update is done with. Rejects when it must be taken again: the ledger is away. */
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
      if (!isSaid(error)) throw error;
      this.#say(incoming.chat, spoken(error));
    }
  }

  #mayWrite({ id }: Sender): boolean {
    const { allow, log } = this.#tools;
    if (allow.has(id)) return true;
    if (!this.#strangers.has(id) && this.#strangers.size < STRANGERS_MAX) {
      this.#strangers.add(id);
      log('info', 'somebody who is not in channels.telegram.allow wrote to the bot: ignored', { sender: id });
    }
    return false;
  }

  async #message(update_id: number, message: WrittenMessage): Promise<void> {
    const { desk, bot, answers } = this.#tools;
    const { chat, from, text } = message;
    if (text === null) {
      const again = message.album !== null && message.album === this.#album;
      this.#album = message.album;
      return again ? undefined : this.#say(chat, 'only text can be read');
    }
    const command = readCommand(text, bot.username);
    if (command === 'elsewhere') return;
    if (command !== null) {
      const place = { desk, chat: String(chat), by: `telegram:${from.id}` };
      return answers.say(chat, await runCommand(place, command));
    }
    await desk.say(String(chat), { id: `telegram-${bot.id}-${update_id}`, from: from.name, text });
  }

  async #press(press: Press): Promise<void> {
    const { desk, client, answers, signal } = this.#tools;
    const tell = (text: string, show_alert = false) =>
      void answers.now(() =>
        client.send(
          (api, stop) => api.answerCallbackQuery({ callback_query_id: press.id, text, show_alert }, stop),
          signal,
        ),
      );
    try {
      const { told, line } = await pressOutcome(desk, press);
      tell(told);
      if (line !== null) this.#sign(press, line);
    } catch (error) {
      if (!isSaid(error)) throw error;
      tell(spoken(error).slice(0, ALERT_MAX), true);
    }
  }

  /** The buttons go away; in their place stands what came of them. */
  #sign({ chat, message }: Press, line: string): void {
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

/** Characters of a notice that is shown to whoever pressed a button. */
const ALERT_MAX = 190;

/** Whether an error is the answer; the others mean that the update was not taken. */
function isSaid(error: unknown): error is CoppiceError {
  return error instanceof CoppiceError && !isLedgerTrouble(error);
}

function spoken({ message, hint }: CoppiceError): string {
  return hint === null ? message : `${message}\n${hint}`;
}
