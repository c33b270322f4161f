import { cutText } from '../../../records/text/cut-text.ts';
import { fieldsOf } from '../../../records/text/json-fields.ts';
import { jsonIn } from '../../../records/text/json-text.ts';
import { clean } from '../../../render/clean.ts';
import type { ChannelLog, ChannelMemory, ChatEvent } from '../../channel.ts';
import { type FormattedText, hasVisible, limitEntities } from '../../chat/formatted-text.ts';
import { markdownEntities } from '../../chat/markdown-entities.ts';
import { TextBuilder } from '../../chat/text-builder.ts';
import type { BotAnswer, BotClient } from '../bot/bot-client.ts';
import { type BotFailure, editRefusal } from '../bot/bot-failure.ts';
import type { TelegramTiming } from '../bot/telegram-timing.ts';
import type { ChatLocks } from '../chat-locks.ts';
import { messageBody, sendNew } from './outgoing-message.ts';

/** The message that is being edited, as stored in the ledger. `ended`: its turn has ended, its reply is still to come. */
interface LiveNote {
  readonly message_id: number;
  readonly ended: boolean;
}

export interface LiveTools {
  readonly client: BotClient;
  readonly locks: ChatLocks;
  readonly memory: ChannelMemory;
  readonly log: ChannelLog;
  readonly timing: TelegramTiming;
  /** Id of the newest message of a reply that was sent while no live message was known, by `chat:agent_id`. */
  readonly replies: ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
}

const BUSY_MS = 1_000;

/**
 * Shows what one agent says and does in one message of a chat, edited as the text grows and only under the lock of the chat. The reply replaces this
 * message, which is not edited any more after `target`.
 */
export class LiveMessage {
  readonly #chat: string;
  readonly #tools: LiveTools;
  readonly #name: string;
  readonly #key: string;
  /** `unknown`: this process has seen no event of the turn. */
  #turn: 'unknown' | 'open' | 'ended' = 'unknown';
  #text = '';
  #doing: string | null = null;
  /** Whether Telegram refused the live message: the rest of this turn is not shown. */
  #muted = false;
  #changed = false;
  /** Content that the message shows, as JSON. */
  #shown: string | null = null;
  /** Undefined until it was read from the ledger; null for no live message. */
  #note: LiveNote | null | undefined;
  #note_until = 0;
  #edited_at = Number.NEGATIVE_INFINITY;
  /** Number of ended turns whose reply has not been delivered yet, and the parcel id of the reply that was counted last. */
  #owed = 0;
  #counted: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** Whether an edit is in progress. */
  #busy = false;

  constructor(chat: string, agent_id: string, tools: LiveTools) {
    this.#chat = chat;
    this.#tools = tools;
    this.#name = `${chat}:${agent_id}`;
    this.#key = `live:${this.#name}`;
  }

  handle(event: ChatEvent): void {
    if (event.type === 'began') return this.#begin();
    if (this.#turn === 'ended') return;
    if (event.type === 'ended') {
      this.#end();
      this.#owed += 1;
      void this.#storeEnd();
      return;
    }
    this.#turn = 'open';
    if (event.type === 'text') this.#text = event.text;
    else this.#doing = event.doing;
    this.#changed = true;
    this.#schedule(0);
  }

  /** Returns the id of the message that this reply replaces, or null. The chat must be locked. Rejects when the ledger is unreachable. */
  async target(parcel_id: string): Promise<number | null> {
    await this.#load();
    if (this.#counted !== parcel_id) {
      this.#counted = parcel_id;
      if (this.#owed > 0) this.#owed -= 1;
      // The reply arrived before the `ended` event of its turn.
      else if (this.#turn === 'open') this.#end();
    }
    if (this.#note) this.#awaitReply({ ...this.#note, ended: true });
    return this.#note?.message_id ?? null;
  }

  /** Forgets the live message, so that it is not edited any more. The chat must be locked. Rejects when the ledger is unreachable. */
  async forget(): Promise<void> {
    await this.#store(null);
    this.#shown = null;
    this.#schedule(0);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #begin(): void {
    this.#turn = 'open';
    this.#muted = false;
    this.#text = '';
    this.#doing = null;
    const { client, signal } = this.#tools;
    const chat_id = Number(this.#chat);
    void client.send((api, stop) => api.sendChatAction({ chat_id, action: 'typing' }, stop), signal);
  }

  #end(): void {
    this.#turn = 'ended';
    this.#text = '';
    this.#doing = null;
    this.#changed = false;
    this.close();
  }

  #schedule(least_ms: number): void {
    const { timing, signal } = this.#tools;
    if (this.#timer !== undefined || this.#turn !== 'open' || !this.#changed) return;
    if (this.#muted || this.#busy || signal.aborted) return;
    const gap_ms = this.#edited_at + timing.live_gap_ms - performance.now();
    const first_ms = this.#shown === null ? timing.live_first_ms : 0;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#refresh();
      },
      Math.max(least_ms, first_ms, gap_ms),
    );
  }

  async #refresh(): Promise<void> {
    const { locks, timing, log } = this.#tools;
    const release = locks.tryTake(this.#chat);
    if (release === null) return this.#schedule(timing.live_gap_ms);
    let wait_ms = 0;
    this.#busy = true;
    try {
      wait_ms = await this.#show();
    } catch {
      log('warn', 'a live message could not be recorded: the ledger is unreachable', { chat: this.#chat });
      this.#changed = true;
      wait_ms = timing.live_gap_ms;
    } finally {
      this.#busy = false;
      release();
    }
    this.#schedule(wait_ms);
  }

  /** Shows what is new; resolves to the milliseconds to wait before the next refresh. */
  async #show(): Promise<number> {
    const { client, timing, signal } = this.#tools;
    if (!(await this.#mayWrite())) return timing.live_gap_ms;
    if (this.#turn !== 'open' || this.#muted) return 0;
    this.#changed = false;
    const content = liveText(this.#text, this.#doing);
    const shown = JSON.stringify(content);
    if (content === null || shown === this.#shown) return 0;
    const answer = await client.writeNow(Number(this.#chat), this.#call(content), signal);
    if (answer === null) {
      this.#changed = true;
      return Math.max(BUSY_MS, client.held_ms());
    }
    this.#edited_at = performance.now();
    return await this.#onAnswer(answer, shown);
  }

  #call(content: FormattedText) {
    const chat_id = Number(this.#chat);
    const note = this.#note;
    return async (...[api, stop]: Parameters<Parameters<LiveTools['client']['send']>[0]>) => {
      if (!note) return await sendNew(api, chat_id, content, stop);
      await api.editMessageText({ chat_id, message_id: note.message_id, ...messageBody(content) }, stop);
      return note.message_id;
    };
  }

  async #onAnswer(answer: BotAnswer<number>, shown: string): Promise<number> {
    if (!answer.ok) return await this.#onFailure(answer.failure, shown);
    this.#shown = shown;
    if (!this.#note) await this.#store({ message_id: answer.result, ended: false });
    return 0;
  }

  async #onFailure(failure: BotFailure, shown: string): Promise<number> {
    const { client, timing, log } = this.#tools;
    const refusal = editRefusal(failure);
    if (refusal === 'same') {
      this.#shown = shown;
      return 0;
    }
    this.#changed = true;
    if (failure.type === 'flood') return client.held_ms();
    if (failure.type === 'transient' || failure.type === 'aborted') return timing.live_gap_ms;
    if (refusal === 'gone') {
      await this.forget();
      return timing.live_gap_ms;
    }
    log('debug', 'a live message was refused; this turn continues without one', { chat: this.#chat });
    this.#muted = true;
    return 0;
  }

  /** False while the message of an earlier turn waits for its reply. */
  async #mayWrite(): Promise<boolean> {
    await this.#load();
    if (!this.#note?.ended) return true;
    if (performance.now() < this.#note_until) return false;
    this.#owed = 0;
    await this.forget();
    return true;
  }

  async #storeEnd(): Promise<void> {
    const { locks, log, signal } = this.#tools;
    const release = await locks.take(this.#chat, signal);
    if (release === null) return;
    try {
      await this.#load();
      if (!this.#note || this.#note.ended) return;
      this.#awaitReply({ ...this.#note, ended: true });
      await this.#store(this.#note);
    } catch {
      log('warn', 'a live message could not be recorded: the ledger is unreachable', { chat: this.#chat });
    } finally {
      release();
    }
  }

  async #load(): Promise<void> {
    if (this.#note !== undefined) return;
    const note = readNote(await this.#tools.memory.get(this.#key));
    // The reply was sent as a later message before this process listened.
    const passed = note !== null && note.message_id < (this.#tools.replies.get(this.#name) ?? 0);
    if (passed) return await this.#store(null);
    if (!note?.ended) {
      this.#note = note;
      return;
    }
    this.#owed += 1;
    this.#awaitReply(note);
  }

  /** Marks the turn of the message as ended: the message waits for its reply, at most `live_grace_ms`. */
  #awaitReply(note: LiveNote): void {
    if (!this.#note?.ended) this.#note_until = performance.now() + this.#tools.timing.live_grace_ms;
    this.#note = note;
  }

  /** Updates memory first: a failed write must not lead to a second message. */
  async #store(note: LiveNote | null): Promise<void> {
    this.#note = note;
    await this.#tools.memory.set(this.#key, note === null ? null : JSON.stringify(note));
  }
}

function readNote(kept: string | null): LiveNote | null {
  const { message_id, ended } = fieldsOf(jsonIn(kept ?? ''));
  return Number.isSafeInteger(message_id) ? { message_id: Number(message_id), ended: ended === true } : null;
}

/** Maximum characters shown; of a longer text only the end is shown. */
const TEXT_MAX = 4_000;
const DOING_MAX = 80;

/** Content of a live message; null while there is nothing to show. */
function liveText(text: string, doing: string | null): FormattedText | null {
  const said = lastOf(markdownEntities(text));
  const work = doing === null ? '' : cutText(clean(doing), DOING_MAX, '…');
  if (!hasVisible(work)) return hasVisible(said.text) ? said : null;
  const builder = new TextBuilder();
  builder.styled('italic', () => builder.write(work));
  const now = builder.build();
  if (!hasVisible(said.text)) return now;
  const place = said.text.length + 2;
  const moved = now.entities.map((entity) => ({ ...entity, offset: entity.offset + place }));
  return { text: `${said.text}\n\n${now.text}`, entities: [...said.entities, ...moved] };
}

function lastOf({ text, entities }: FormattedText): FormattedText {
  const end = text.trimEnd().length;
  let start = Math.max(0, end - TEXT_MAX);
  if (start > 0 && /[\udc00-\udfff]/.test(text[start] as string)) start += 1;
  const before = start > 0 ? '… ' : '';
  const moved = entities.flatMap((entity) => {
    const from = Math.max(entity.offset, start);
    const to = Math.min(entity.offset + entity.length, end);
    return to > from ? [{ ...entity, offset: from - start + before.length, length: to - from }] : [];
  });
  return { text: before + text.slice(start, end), entities: limitEntities(moved) };
}
