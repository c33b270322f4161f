import { cutText } from '../../../records/text/cut-text.ts';
import { fieldsOf, itemsOf } from '../../../records/text/json-fields.ts';
import { isJsonObject } from '../../../records/text/json-text.ts';
import type { Entity, FormattedText } from '../../chat/formatted-text.ts';
import { ENTITY_TYPES } from '../../chat/formatted-text.ts';

export interface Sender {
  readonly id: number;
  /** First name, else user name, else the id. */
  readonly name: string;
}

/** A message; `text` is null for pictures, voice messages and the like without a caption. */
export interface WrittenMessage {
  readonly type: 'message';
  readonly chat: number;
  readonly from: Sender;
  readonly text: string | null;
  /** Id shared by pictures that were sent together, else null. */
  readonly album: string | null;
}

/** A pressed button. */
export interface Press {
  readonly type: 'press';
  /** Id of the callback query, for `answerCallbackQuery`. */
  readonly id: string;
  readonly chat: number;
  readonly from: Sender;
  readonly data: string;
  /** The message with the button; null when it is too old to be edited. */
  readonly message: (FormattedText & { readonly id: number }) | null;
}

export type Incoming =
  | WrittenMessage
  | Press
  /** Ignored, such as events of a group and messages of bots. */
  | { readonly type: 'nothing' }
  /** Not in the format that the Bot API documents. */
  | { readonly type: 'malformed' };

/** Content that people send; other messages report events in a group. */
const CONTENT: readonly string[] =
  'animation audio contact dice document location paid_media photo poll sticker story venue video video_note voice'.split(
    ' ',
  );
const NAME_MAX = 64;

/** Parses an update, checking every field: a malformed one must not prevent others from being read. */
export function readIncoming(update: unknown): Incoming {
  if (!isJsonObject(update)) return { type: 'malformed' };
  if (update.message !== undefined) return readMessage(update.message);
  if (update.callback_query !== undefined) return readPress(update.callback_query);
  return { type: 'nothing' };
}

function readMessage(message: unknown): Incoming {
  if (!isJsonObject(message) || !isJsonObject(message.chat) || !isId(message.chat.id))
    return { type: 'malformed' };
  const from = readSender(message.from);
  if (from === 'malformed' || from === 'nothing') return { type: from };
  const text = [message.text, message.caption].find((one) => typeof one === 'string' && one.trim() !== '');
  if (text === undefined && !CONTENT.some((kind) => message[kind] !== undefined)) return { type: 'nothing' };
  const album = typeof message.media_group_id === 'string' ? message.media_group_id : null;
  return { type: 'message', chat: message.chat.id, from, text: (text as string | undefined) ?? null, album };
}

function readPress(query: unknown): Incoming {
  if (!isJsonObject(query) || typeof query.id !== 'string') return { type: 'malformed' };
  const from = readSender(query.from);
  if (from === 'malformed' || from === 'nothing') return { type: from };
  const { message, data } = query;
  if (typeof data !== 'string' || !isJsonObject(message)) return { type: 'nothing' };
  if (!isJsonObject(message.chat) || !isId(message.chat.id)) return { type: 'malformed' };
  const shown =
    isId(message.message_id) && typeof message.text === 'string'
      ? { id: message.message_id, text: message.text, entities: readEntities(message.entities) }
      : null;
  return { type: 'press', id: query.id, chat: message.chat.id, from, data, message: shown };
}

function readSender(from: unknown): Sender | 'nothing' | 'malformed' {
  if (from === undefined) return 'nothing';
  if (!isJsonObject(from) || !isId(from.id)) return 'malformed';
  if (from.is_bot === true) return 'nothing';
  const name = [from.first_name, from.username].find((one) => typeof one === 'string' && one.trim() !== '');
  return {
    id: from.id,
    name: cutText((name as string | undefined) ?? String(from.id), NAME_MAX).toWellFormed(),
  };
}

/** Keeps entities of the types that this channel sets; Telegram detects links and the like by itself. */
function readEntities(entities: unknown): readonly Entity[] {
  const isOwn = (one: unknown) => ENTITY_TYPES.includes(fieldsOf(one).type as Entity['type']);
  return itemsOf(entities).filter(isOwn) as Entity[];
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
