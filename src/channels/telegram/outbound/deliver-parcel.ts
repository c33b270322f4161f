import { fieldsOf } from '../../../records/text/json-fields.ts';
import { jsonIn } from '../../../records/text/json-text.ts';
import type { DeliverContext, DeliverResult, Parcel } from '../../channel.ts';
import { type OutgoingMessage, parcelMessages } from '../../chat/parcel-messages.ts';
import type { BotAnswer, BotClient } from '../bot/bot-client.ts';
import { editRefusal, failureResult } from '../bot/bot-failure.ts';
import type { LiveMessage } from './live-message.ts';
import { messageBody, sendNew } from './outgoing-message.ts';

/** How much of a parcel was sent, as stored between its messages. */
interface PartProgress {
  readonly sent: number;
  readonly message_ids: readonly number[];
}

export interface DeliverTools {
  readonly client: BotClient;
  /** Live message that the first message of a reply replaces; null for other parcels, or if this process has not listened. */
  readonly live: LiveMessage | null;
  readonly onSent: (message_id: number) => void;
}

/**
 * Sends the rest of a parcel, message by message, and stores the progress after each. The chat must be locked. Rejects when the ledger is unreachable
 * or the progress cannot be stored.
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
    // The replaced message must not be edited as a live message any more.
    if (index === 0) await live?.forget();
  }
  return { type: 'delivered' };
}

/** Edits the message `place` where possible, else sends a new one; resolves to its id. */
async function put(
  client: BotClient,
  chat_id: number,
  place: number | null,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<BotAnswer<number>> {
  if (place !== null) {
    const edited = await withFallback(message, (given) =>
      client.write(
        chat_id,
        (api, stop) => api.editMessageText({ chat_id, message_id: place, ...messageBody(given) }, stop),
        signal,
      ),
    );
    if (edited.ok || editRefusal(edited.failure) === 'same') return { ok: true, result: place };
    if (editRefusal(edited.failure) !== 'gone') return edited;
  }
  return await withFallback(message, (given) =>
    client.write(chat_id, (api, stop) => sendNew(api, chat_id, given, stop), signal),
  );
}

/** Sends again without formatting where Telegram refuses the entities. */
async function withFallback<T>(
  message: OutgoingMessage,
  send: (message: OutgoingMessage) => Promise<BotAnswer<T>>,
): Promise<BotAnswer<T>> {
  const answer = await send(message);
  const refused = !answer.ok && answer.failure.type === 'refused' && /entit/i.test(answer.failure.error);
  return refused && message.entities.length > 0 ? await send({ ...message, entities: [] }) : answer;
}

/** Parses the progress that an earlier try stored; zero if it cannot be parsed. */
function readProgress(kept: string | null): PartProgress {
  const { sent, message_ids } = fieldsOf(jsonIn(kept ?? '')) as Partial<PartProgress>;
  const is_known = Number.isSafeInteger(sent) && Number(sent) >= 0 && Array.isArray(message_ids);
  return is_known ? { sent: Number(sent), message_ids } : { sent: 0, message_ids: [] };
}
