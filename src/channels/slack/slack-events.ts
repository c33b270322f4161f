import { fieldsOf, itemsOf } from '../../records/text/json-fields.ts';
import type { JsonObject } from '../../records/text/json-text.ts';
import type { ChannelLog, ChatSessions } from '../channel.ts';
import { BOT_COMMANDS, readCommand } from '../chat/bot-commands.ts';
import { runCommand } from '../chat/chat-commands.ts';
import type { FormattedText } from '../chat/formatted-text.ts';
import { type OutgoingMessage, textMessages } from '../chat/parcel-messages.ts';
import { isReply, pressOutcome, spoken } from '../chat/press-outcome.ts';
import type { SlackAnswer } from './slack-api.ts';

export interface SlackEventTools {
  readonly sessions: ChatSessions;
  readonly allow: ReadonlySet<string>;
  readonly log: ChannelLog;
  readonly call: (method: string, body: object, signal: AbortSignal) => Promise<SlackAnswer>;
  readonly post: (address: string, message: OutgoingMessage, signal: AbortSignal) => Promise<SlackAnswer>;
  readonly signal: AbortSignal;
}

/** Maximum people and envelopes that are remembered. */
const KEPT_MAX = 10_000;
/** Places where our own texts name a command. */
const NAMED = new RegExp(
  `(^|[:,] |[Ww]rite |or )/(?=(?:${BOT_COMMANDS.map(({ name }) => name).join('|')})\\b)`,
  'gm',
);

/** Our own text with commands as they are written on Slack, which keeps slashes for itself; what it quotes stays as it is. */
export function withBangs({ text, entities }: FormattedText): string {
  const quotes = (at: number) =>
    entities.some(({ type, offset, length }) => type === 'pre' && at >= offset && at < offset + length);
  return text.replaceAll(NAMED, (found, before: string, at: number) => (quotes(at) ? found : `${before}!`));
}

/** Handles envelopes: messages go to the session of their thread, commands and buttons take effect. People who are not allowed get no reply. */
export class SlackEvents {
  readonly #tools: SlackEventTools;
  readonly #strangers = new Set<string>();
  /** Events that were handled: Slack repeats those whose acknowledgement it missed. */
  readonly #handled = new Set<string>();
  #bot = '';

  constructor(tools: SlackEventTools) {
    this.#tools = tools;
  }

  /** Rejects when Slack is to send the envelope again, because the ledger or Slack could not be reached. */
  async take({ type, payload }: JsonObject): Promise<void> {
    const { event, event_id, ...pressed } = fieldsOf(payload);
    const key = String(event_id ?? '');
    if (key !== '' && this.#handled.has(key)) return;
    if (type === 'events_api') await this.#message(fieldsOf(event));
    else if (type === 'interactive') await this.#press(pressed);
    if (this.#handled.size >= KEPT_MAX) this.#handled.clear();
    this.#handled.add(key);
  }

  #mayWrite(user: string): boolean {
    const { allow, log } = this.#tools;
    if (allow.has(user)) return true;
    if (!this.#strangers.has(user) && this.#strangers.size < KEPT_MAX) {
      this.#strangers.add(user);
      log('info', 'ignored a message from a sender who is not in channels.slack.allow', { sender: user });
    }
    return false;
  }

  async #message(event: JsonObject): Promise<void> {
    const { sessions } = this.#tools;
    const { type, user, channel, ts, thread_ts, subtype, bot_id, text = '' } = event;
    const by_person = typeof user === 'string' && bot_id === undefined;
    const is_new = subtype === undefined || subtype === 'file_share' || subtype === 'thread_broadcast';
    if (!by_person || !is_new || (type !== 'message' && type !== 'app_mention')) return;
    const mention = `<@${await this.#botId()}>`;
    const chat = `${channel}/${thread_ts ?? ts}`;
    // In a channel it is mentioned, or written to in a thread of its own; a mention comes as an event of its own, too.
    const is_meant = type === 'app_mention' || event.channel_type === 'im' || String(text).includes(mention);
    if (!is_meant && (thread_ts === undefined || (await sessions.agents(chat)).length === 0)) return;
    if (!this.#mayWrite(user)) return;
    const said = plainText(String(text).replaceAll(mention, '')).trim();
    try {
      if (said === '') return this.#say(chat, { text: 'only text can be read', entities: [] });
      const command = said.startsWith('!') ? readCommand(`/${said.slice(1)}`, '') : null;
      const by = `slack:${user}`;
      if (command !== null) this.#say(chat, await runCommand({ sessions, chat, by }, Object(command)));
      else await sessions.say(chat, { id: `slack-${channel}-${ts}`, from: by, text: said });
    } catch (error) {
      if (!isReply(error)) throw error;
      this.#say(chat, { text: spoken(error), entities: [] });
    }
  }

  async #press({ type, user, actions, channel, message }: JsonObject): Promise<void> {
    const { sessions, call, signal } = this.#tools;
    const [id, { value, block_id }] = [String(fieldsOf(user).id), fieldsOf(itemsOf(actions)[0])];
    if (type !== 'block_actions' || !this.#mayWrite(id)) return;
    const chat = String(block_id);
    try {
      const press = { data: String(value), chat, by: `slack:${id}`, name: `<@${id}>` };
      const { line } = await pressOutcome(sessions, press);
      if (line === null) return;
      const { ts, text } = fieldsOf(message);
      const body = { channel: fieldsOf(channel).id, ts, text: `${text}\n\n${line}`, attachments: [] };
      void call('chat.update', body, signal);
    } catch (error) {
      if (!isReply(error)) throw error;
      this.#say(chat, { text: spoken(error), entities: [] });
    }
  }

  async #botId(): Promise<string> {
    if (this.#bot !== '') return this.#bot;
    const answer = await this.#tools.call('auth.test', {}, this.#tools.signal);
    if (!answer.ok) throw new Error(answer.failure.error);
    this.#bot = String(answer.result.user_id);
    return this.#bot;
  }

  /** Does not hold up further events. */
  #say(chat: string, said: FormattedText): void {
    const { post, log, signal } = this.#tools;
    void (async () => {
      for (const message of textMessages({ ...said, text: withBangs(said) })) {
        const answer = await post(chat, message, signal);
        if (!answer.ok)
          return log('warn', 'an answer could not be sent to Slack', { error: answer.failure.error });
      }
    })();
  }
}

/** The text as its author saw it: addresses without brackets, signs unescaped. */
function plainText(text: string): string {
  const links = text.replaceAll(/<((?:https?|mailto):[^|>]+)(?:\|[^>]*)?>/g, '$1');
  return links.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
