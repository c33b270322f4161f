import type { DeliverContext, DeliverResult, Parcel } from '../../channel.ts';
import type { BotAnswer, BotClient } from '../bot/bot-client.ts';
import { editRefusal } from '../bot/edit-refusal.ts';
import { failureResult } from '../bot/failure-result.ts';
import type { LiveMessage } from './live-message.ts';
import { messageBody, type OutgoingMessage, sendNew } from './outgoing-message.ts';
import { parcelMessages } from './parcel-messages.ts';
import { readProgress } from './part-progress.ts';

export interface DeliverTools {
  readonly client: BotClient;
  /** Of a reply, where this process knows it: the live message of the chat and agent, which the first message takes the place of. */
  readonly live: LiveMessage | null;
  /** Hears of every message that was sent. */
  readonly onSent: (message_id: number) => void;
}

/**
 * Sends what is left of a parcel, message by message; what was sent is noted after each. The chat must be locked. Rejects when the ledger
 * is away.
 */
export async function deliverParcel(
  { client, live, onSent }: DeliverTools,
  parcel: Parcel,
  { saveProgress, signal }: DeliverContext,
): Promise<DeliverResult> {
  const chat = Number(parcel.address);
  const messages = parcelMessages(parcel);
  const { sent, message_ids } = readProgress(parcel.progress);
  const ids = [...message_ids];
  const replaced = live === null ? null : await live.target(parcel.id);
  if (sent > 0) await live?.forget();
  for (const [index, message] of messages.entries()) {
    if (index < sent) continue;
    const place = index === 0 ? replaced : null;
    const answer = await put(client, chat, place, message, signal);
    if (!answer.ok) return failureResult(answer.failure);
    ids.push(answer.result);
    onSent(answer.result);
    await saveProgress(JSON.stringify({ sent: index + 1, message_ids: ids }));
    // From here on nothing may be written over it.
    if (index === 0) await live?.forget();
  }
  return { type: 'delivered' };
}

/** In place of a message that is there, where that can be edited; else as a new one. Resolves with its id. */
async function put(
  client: BotClient,
  chat_id: number,
  place: number | null,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<BotAnswer<number>> {
  if (place !== null) {
    const edited = await unmarked(message, (given) =>
      client.write(
        chat_id,
        (api, stop) => api.editMessageText({ chat_id, message_id: place, ...messageBody(given) }, stop),
        signal,
      ),
    );
    if (edited.ok || editRefusal(edited.failure) === 'same') return { ok: true, result: place };
    if (editRefusal(edited.failure) !== 'gone') return edited;
  }
  return await unmarked(message, (given) =>
    client.write(chat_id, (api, stop) => sendNew(api, chat_id, given, stop), signal),
  );
}

/** A text whose marks Telegram does not take is sent without them: that it arrives is worth more. */
async function unmarked<T>(
  message: OutgoingMessage,
  send: (message: OutgoingMessage) => Promise<BotAnswer<T>>,
): Promise<BotAnswer<T>> {
  const answer = await send(message);
  const refused = !answer.ok && answer.failure.type === 'refused' && /entit/i.test(answer.failure.error);
  return refused && message.entities.length > 0 ? await send({ ...message, entities: [] }) : answer;
}
