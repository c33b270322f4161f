import { entityProblem, type WireEntity } from './telegram-entities.ts';
import { parseMarkdownV2 } from './telegram-markdown-v2.ts';
import { granted, refusal, type TelegramAnswer } from './telegram-wire.ts';

/** The current state of a message in a chat. */
export interface KeptMessage {
  readonly message_id: number;
  readonly chat: number;
  text: string;
  entities: readonly WireEntity[];
  markup: unknown;
  edits: number;
  /** When it was sent; milliseconds, monotonic. */
  readonly at: number;
  edited_at: number;
}

type Body = Readonly<Record<string, unknown>>;
type Content = Pick<KeptMessage, 'text' | 'entities' | 'markup'>;

const TEXT_MAX = 4_096;

/** The chats and what the bot wrote into them. It refuses what the Bot API refuses. */
export class TelegramBook {
  readonly #chats = new Map<number, KeptMessage[]>();
  readonly #blocked = new Set<number>();
  #next_id = 100;

  know(chat: number): void {
    if (!this.#chats.has(chat)) this.#chats.set(chat, []);
  }

  knows(chat: unknown): boolean {
    return this.#chats.has(Number(chat));
  }

  /** Makes the chat one whose person has blocked the bot. */
  block(chat: number): void {
    this.#blocked.add(chat);
  }

  /** The messages of a chat, oldest first. */
  messages(chat: number): readonly KeptMessage[] {
    return this.#chats.get(chat) ?? [];
  }

  texts(chat: number): readonly string[] {
    return this.messages(chat).map(({ text }) => text);
  }

  remove(chat: number, message_id: number): void {
    this.#chats.set(
      chat,
      this.messages(chat).filter((message) => message.message_id !== message_id),
    );
  }

  send(body: Body): TelegramAnswer {
    const refused = this.#refusal(body.chat_id);
    if (refused !== null) return refused;
    const content = readContent(body);
    if (typeof content === 'string') return refusal(400, `Bad Request: ${content}`);
    const chat = Number(body.chat_id);
    const now = performance.now();
    this.#next_id += 1;
    const message = { message_id: this.#next_id, chat, ...content, edits: 0, at: now, edited_at: now };
    this.#chats.get(chat)?.push(message);
    return granted(wireMessage(message));
  }

  edit(body: Body): TelegramAnswer {
    const refused = this.#refusal(body.chat_id);
    if (refused !== null) return refused;
    const message = this.messages(Number(body.chat_id)).find((one) => one.message_id === body.message_id);
    if (message === undefined) return refusal(400, 'Bad Request: message to edit not found');
    const content = readContent(body);
    if (typeof content === 'string') return refusal(400, `Bad Request: ${content}`);
    const { text, entities, markup } = message;
    if (JSON.stringify(content) === JSON.stringify({ text, entities, markup }))
      return refusal(
        400,
        'Bad Request: message is not modified: specified new message content and reply markup are exactly the same',
      );
    Object.assign(message, content, { edits: message.edits + 1, edited_at: performance.now() });
    return granted(wireMessage(message));
  }

  #refusal(chat: unknown): TelegramAnswer | null {
    if (typeof chat !== 'number' || !this.knows(chat)) return refusal(400, 'Bad Request: chat not found');
    return this.#blocked.has(chat) ? refusal(403, 'Forbidden: bot was blocked by the user') : null;
  }
}

/** The content of a message, or the error text of the Bot API. */
function readContent(body: Body): Content | string {
  const source = body.text;
  if (typeof source !== 'string') return 'message text is empty';
  if (!source.isWellFormed()) return 'strings must be encoded in UTF-8';
  const given = (body.entities ?? []) as readonly WireEntity[];
  const parsed =
    body.parse_mode === 'MarkdownV2' ? parseMarkdownV2(source) : { text: source, entities: [...given] };
  if ('problem' in parsed) return parsed.problem;
  const { text, entities } = parsed;
  if (!/[^\s\p{C}\p{Z}]/u.test(text)) return 'message text is empty';
  if (text.length > TEXT_MAX) return 'message is too long';
  const problem = entityProblem(text, entities) ?? markupProblem(body.reply_markup);
  return problem ?? { text, entities, markup: body.reply_markup ?? null };
}

function markupProblem(markup: unknown): string | null {
  if (markup === undefined) return null;
  const { inline_keyboard } = markup as {
    readonly inline_keyboard: { text: string; callback_data: string }[][];
  };
  const wrong = inline_keyboard
    .flat()
    .some(({ text, callback_data }) => text === '' || Buffer.byteLength(callback_data) > 64);
  return wrong ? 'BUTTON_DATA_INVALID' : null;
}

/** The message as updates and answers contain it. */
export function wireMessage({ message_id, chat, text, entities, markup }: KeptMessage): object {
  return {
    message_id,
    date: 1,
    chat: { id: chat, type: chat < 0 ? 'group' : 'private' },
    text,
    ...(entities.length === 0 ? {} : { entities }),
    ...(markup === null ? {} : { reply_markup: markup }),
  };
}
