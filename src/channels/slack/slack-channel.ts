/** Slack: calls of the Web API, events over Socket Mode, and text as mrkdwn. A thread is a chat. */

import { clean } from '../../render/clean.ts';
import type {
  ChannelLog,
  ChatSessions,
  DeliverContext,
  DeliverResult,
  InboundChannel,
  Parcel,
} from '../channel.ts';
import { type OutgoingMessage, parcelMessages } from '../chat/parcel-messages.ts';
import { mrkdwnOf } from './mrkdwn.ts';
import { callSlack } from './slack-api.ts';
import { SlackEvents, withBangs } from './slack-events.ts';
import { receive, type SocketTerms } from './socket-mode.ts';

const ROOT = 'https://slack.com/api';
const DELIVER_MS = 60_000;
/** A channel, or a person, who is written to directly; in a thread of it. */
const ADDRESS = /^([CDGUW][A-Z0-9]{2,20})(?:\/(\d{1,12}\.\d{1,9}))?$/;

export interface SlackOptions {
  readonly bot_token: string;
  /** Token of the app, for Socket Mode. */
  readonly app_token: string;
  /** Ids of the people who may write, answer and be written to; empty means nobody. */
  readonly allow: readonly string[];
  /** URL of the Web API; default Slack's own. */
  readonly api_root?: string;
  readonly log: ChannelLog;
}

/** Opens the channel to the threads of a Slack app; addresses are `CHANNEL` and `CHANNEL/THREAD`. Sends no request. */
export function openSlack(options: SlackOptions): InboundChannel {
  const { bot_token, app_token, allow, api_root = ROOT, log } = options;
  const root = api_root.replace(/\/+$/, '');
  const closing = new AbortController();
  const allowed: ReadonlySet<string> = new Set(allow);
  const call = (method: string, body: object, signal: AbortSignal, token = bot_token) =>
    callSlack({ root, token }, method, body, AbortSignal.any([signal, closing.signal]));
  const post = (address: string, message: OutgoingMessage, signal: AbortSignal, more: object = {}) => {
    const [, channel, thread_ts] = ADDRESS.exec(address) ?? [];
    const body = { channel, ...(thread_ts && { thread_ts }), ...bodyOf(message, address), ...more };
    return call('chat.postMessage', body, signal);
  };

  function check(address: string): string | null {
    const [, channel = ''] = ADDRESS.exec(address) ?? [];
    if (channel === '')
      return `"${clean(address.slice(0, 40))}" is not a chat of Slack: write the id of a channel or a person, such as slack:C0123ABCD`;
    if (/^[UW]/.test(channel) && !allowed.has(channel))
      return `the Slack user ${channel} is not among those who are allowed: add ${channel} to channels.slack.allow`;
    return null;
  }

  async function deliver(parcel: Parcel, context: DeliverContext): Promise<DeliverResult> {
    const problem = check(parcel.address);
    if (problem !== null) return { type: 'failed', error: problem };
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(DELIVER_MS)]);
    const sent = Number(parcel.progress ?? 0);
    try {
      for (const [index, message] of parcelMessages(parcel).entries()) {
        if (index < sent) continue;
        const event_payload = { id: parcel.id, part: index + 1 };
        const metadata = { event_type: 'coppice_delivery', event_payload };
        const shown = parcel.kind === 'ask' ? { ...message, text: withBangs(message) } : message;
        const answer = await post(parcel.address, shown, signal, { metadata });
        if (!answer.ok) return answer.failure;
        await context.saveProgress(String(index + 1));
      }
      return { type: 'delivered' };
    } catch {
      return { type: 'retry', error: 'the ledger could not note what was sent', after_ms: null };
    }
  }

  async function listen(sessions: ChatSessions, signal: AbortSignal): Promise<void> {
    const events = new SlackEvents({ sessions, allow: allowed, log, call, post, signal });
    const open = () => call('apps.connections.open', {}, signal, app_token);
    const take: SocketTerms['take'] = (envelope) => events.take(envelope);
    await receive({ open, take, log }, AbortSignal.any([signal, closing.signal]));
  }

  async function probe(signal: AbortSignal): Promise<{ ok: boolean; text: string }> {
    const bot = await call('auth.test', {}, signal);
    const app = bot.ok ? await call('apps.connections.open', {}, signal, app_token) : bot;
    if (!app.ok) return { ok: false, text: app.failure.error };
    const { user, team } = bot.ok ? bot.result : {};
    return { ok: true, text: `the app is @${clean(String(user))} in ${clean(String(team))}` };
  }

  return { name: 'slack', check, deliver, listen, probe, close: async () => closing.abort() };
}

/** Fields of a message. Buttons are in an attachment, so that the text above them is not bound to the size of a block. */
function bodyOf({ buttons = [], ...text }: OutgoingMessage, address: string): object {
  const elements = buttons.map(({ label, data }, index) => ({
    type: 'button',
    action_id: `answer-${index}`,
    text: { type: 'plain_text', text: label },
    value: data,
  }));
  const actions = { blocks: [{ type: 'actions', block_id: address, elements }] };
  return {
    text: mrkdwnOf(text),
    unfurl_links: false,
    unfurl_media: false,
    ...(elements.length > 0 && { attachments: [actions] }),
  };
}
