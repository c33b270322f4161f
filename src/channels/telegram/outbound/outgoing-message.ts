import type { RawApi } from 'grammy';
import type { OutgoingMessage } from '../../chat/parcel-messages.ts';
import type { BotSignal } from '../bot/bot-client.ts';

/** Request fields for `sendMessage` and `editMessageText`; an edit without buttons removes those of the message. */
export function messageBody({ text, entities, buttons = [] }: OutgoingMessage) {
  const row = buttons.map(({ label, data }) => ({ text: label, callback_data: data }));
  return {
    text,
    entities: [...entities],
    link_preview_options: { is_disabled: true },
    ...(row.length === 0 ? {} : { reply_markup: { inline_keyboard: [row] } }),
  };
}

/** Sends a message; resolves to its id. */
export async function sendNew(
  api: RawApi,
  chat_id: number,
  message: OutgoingMessage,
  signal: BotSignal,
): Promise<number> {
  return (await api.sendMessage({ chat_id, ...messageBody(message) }, signal)).message_id;
}
