import type { ServerResponse } from 'node:http';
import { type KeptMessage, wireMessage } from './telegram-book.ts';
import { granted, refusal, type TelegramAnswer } from './telegram-wire.ts';

export interface TelegramUser {
  readonly id: number;
  readonly first_name: string;
  readonly is_bot?: boolean;
}

type Update = { readonly update_id: number } & Readonly<Record<string, unknown>>;

const BATCH_MAX = 100;

/** Holds updates until they are confirmed; allows one reader at a time. */
export class TelegramUpdates {
  #pending: Update[] = [];
  /** All updates ever, confirmed or not. */
  readonly #all: Update[] = [];
  /** Updates to deliver once more, even if confirmed. */
  readonly #forced = new Set<Update>();
  readonly #open_presses = new Set<string>();
  #next_id = 5_000;
  #next_message = 1;
  #wake: ((why: 'news' | 'other reader' | 'gone') => void) | null = null;
  /** The highest offset that a reader sent: updates below it are confirmed. */
  confirmed = 0;

  /** Adds a message that a person wrote; `fields` replace parts of it. Returns the id of the update. */
  write(from: TelegramUser, text: string, chat = from.id, fields: object = {}): number {
    const message_id = this.#next_message;
    this.#next_message += 1;
    const type = chat < 0 ? 'group' : 'private';
    return this.push({ message: { message_id, date: 1, chat: { id: chat, type }, from, text, ...fields } });
  }

  /** Adds the press of a button below a message. */
  press(
    from: TelegramUser,
    message: KeptMessage,
    data: string,
  ): { readonly id: string; readonly update_id: number } {
    const id = `press-${this.#next_id}`;
    this.#open_presses.add(id);
    const query = { id, from, chat_instance: '1', data, message: wireMessage(message) };
    return { id, update_id: this.push({ callback_query: query }) };
  }

  /** Adds an update with any content. Returns its id. */
  push(content: object, update_id = this.#next_id): number {
    this.#next_id = Math.max(this.#next_id, update_id) + 1;
    this.#add({ ...content, update_id });
    return update_id;
  }

  /** Delivers an update again, confirmed or not. */
  repeat(update_id: number): void {
    const update = this.#all.find((one) => one.update_id === update_id);
    if (update !== undefined) this.#add(update);
  }

  answered(press_id: string): boolean {
    return this.#open_presses.delete(press_id);
  }

  async poll(body: Readonly<Record<string, unknown>>, response: ServerResponse): Promise<TelegramAnswer> {
    this.#wake?.('other reader');
    const offset = Number(body.offset ?? 0);
    this.confirmed = Math.max(this.confirmed, offset);
    this.#pending = this.#pending.filter((update) => update.update_id >= offset || this.#forced.has(update));
    if (this.#pending.length === 0) {
      const why = await this.#news(Number(body.timeout ?? 0) * 1000, response);
      if (why === 'other reader')
        return refusal(
          409,
          'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
        );
    }
    if (response.destroyed) return granted([]);
    const batch = this.#pending.slice(0, BATCH_MAX);
    for (const update of batch) this.#forced.delete(update);
    return granted(batch);
  }

  /** Ends an open poll without updates. */
  close(): void {
    this.#wake?.('gone');
  }

  #add(update: Update): void {
    if (this.#all.includes(update)) this.#forced.add(update);
    else this.#all.push(update);
    this.#pending.push(update);
    this.#wake?.('news');
  }

  #news(timeout_ms: number, response: ServerResponse): Promise<string> {
    return new Promise((resolve) => {
      const wake = (why: string) => {
        clearTimeout(timer);
        if (this.#wake === wake) this.#wake = null;
        resolve(why);
      };
      const timer = setTimeout(() => wake('time'), timeout_ms);
      response.on('close', () => wake('gone'));
      this.#wake = wake;
    });
  }
}
