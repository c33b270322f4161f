import type { RawApi } from 'grammy';
import type { BotSignal } from '../bot/bot-client.ts';
import type { FormattedText } from '../text/formatted-text.ts';

/** `data` comes back when the button is pressed; at most 64 bytes. */
export interface Button {
  readonly label: string;
  readonly data: string;
}

/** A text that fits into one message, and the buttons below it. */
export interface OutgoingMessage extends FormattedText {
  readonly buttons?: readonly Button[];
}

/** As `sendMessage` and `editMessageText` take it; without buttons, an edit takes those away that are there. */
export function messageBody({ text, entities, buttons = [] }: OutgoingMessage) {
  const row = buttons.map(({ label, data }) => ({ text: label, callback_data: data }));
  return {
    text,
    entities: [...entities],
    link_preview_options: { is_disabled: true },
    ...(row.length === 0 ? {} : { reply_markup: { inline_keyboard: [row] } }),
  };
}

/** The id of the message that was sent. */
export async function sendNew(
  api: RawApi,
  chat_id: number,
  message: OutgoingMessage,
  signal: BotSignal,
): Promise<number> {
  return (await api.sendMessage({ chat_id, ...messageBody(message) }, signal)).message_id;
}
