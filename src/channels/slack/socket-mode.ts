import { backOff, sleep } from '../../processes/waiting.ts';
import { fieldsOf } from '../../records/text/json-fields.ts';
import { type JsonObject, jsonIn } from '../../records/text/json-text.ts';
import type { ChannelLog } from '../channel.ts';
import type { SlackAnswer } from './slack-api.ts';

const BACK_OFF = { base_ms: 1_000, max_ms: 30_000 };
/** After this time another connection takes over: nothing tells of one that a network has dropped silently. */
const RENEW_MS = 300_000;
/** How long the connection before may still bring what Slack had sent to it. */
const OVERLAP_MS = 5_000;

export interface SocketTerms {
  /** Asks for the address of a connection. */
  readonly open: () => Promise<SlackAnswer>;
  /** Handles an envelope; rejects if Slack is to send it again. */
  readonly take: (envelope: JsonObject) => Promise<void>;
  readonly log: ChannelLog;
}

/** Receives envelopes over Socket Mode until the signal aborts, one after the other. An envelope is acknowledged once it was handled. */
export async function receive({ open, take, log }: SocketTerms, signal: AbortSignal): Promise<void> {
  let last = Promise.resolve();
  const handle = (socket: WebSocket, data: unknown) => {
    const envelope = fieldsOf(jsonIn(String(data)));
    const { envelope_id } = envelope;
    if (typeof envelope_id !== 'string') return envelope.type;
    last = last.then(async () => {
      try {
        await take(envelope);
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ envelope_id }));
      } catch (error) {
        log('warn', 'an event of Slack could not be handled: it comes again', { error: String(error) });
      }
    });
    return null;
  };
  for (let failures = 0; !signal.aborted; ) {
    const answer = await open();
    const lived = answer.ok && (await connection(String(answer.result.url), handle, signal));
    if (!lived && !signal.aborted)
      log('warn', `no connection to Slack: ${answer.ok ? 'it was lost' : answer.failure.error}`);
    failures = lived ? 0 : failures + 1;
    if (!lived) await sleep(backOff(failures, BACK_OFF), signal);
  }
  await last;
}

/** One connection; resolves when it ends or is to be replaced, to whether Slack had greeted it. */
function connection(
  url: string,
  handle: (socket: WebSocket, data: unknown) => unknown,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    let greeted = false;
    const end = (after_ms: number) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      setTimeout(() => socket.close(), after_ms).unref();
      resolve(greeted);
    };
    const stop = () => end(0);
    const timer = setTimeout(() => end(OVERLAP_MS), RENEW_MS);
    signal.addEventListener('abort', stop);
    socket.onmessage = ({ data }) => {
      const type = handle(socket, data);
      if (type === 'hello') greeted = true;
      if (type === 'disconnect') end(OVERLAP_MS);
    };
    socket.onclose = stop;
    socket.onerror = stop;
  });
}
