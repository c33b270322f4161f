import type { IncomingMessage } from 'node:http';
import { APICallError, type LanguageModelV4 } from '@ai-sdk/provider';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import {
  bodyFault,
  foreignAnswer,
  headersOf,
  JSON_TYPE,
  sendHttp,
  textOf,
  typeOf,
} from '../provider/http-fetch.ts';
import type { Ask } from '../provider/provider-model.ts';
import { ProviderPrompt } from '../provider/provider-prompt.ts';
import { EventLines } from './event-lines.ts';
import { bodyOf, RequestFrames } from './request-frames.ts';
import { RefusedInStream, takeError } from './stream-error.ts';
import { objectAt, type WirePiece, type WireProtocol } from './wire-protocol.ts';

export interface WireOptions {
  /** `provider/model`. */
  readonly id: string;
  readonly protocol: WireProtocol;
  /** The provider package's model with this `fetch`, which builds the rest of a request. */
  readonly open: (fetch: typeof globalThis.fetch) => LanguageModelV4;
  readonly idle_ms: number;
}

/** A prefix shared by related agents, serialized once. */
interface Beginning {
  readonly messages: readonly PromptMessage[];
  readonly bytes: Buffer | null;
  readonly pieces: readonly WirePiece[];
}

/** How long a finished answer may stay open: after its last event, for what may follow, and after its end, for the server to close it. */
const CLOSING_MS = 5_000;
const CLOSE_MS = 1_000;

const NOTHING: Beginning = { messages: [], bytes: null, pieces: [] };
/** Maximum length of cached message JSON; larger ones, mostly images, would be in memory twice. */
const KEPT_MAX = 256 * 1024;

/**
 * Sends requests over keep-alive `node:http` connections and decodes events directly, without the packages' streams and per-chunk validation, which cost more
 * than the rest of a request (docs/decisions/0016-hot-protocols-on-the-wire.md). Messages are serialized once.
 */
export function wireAsk({ id, protocol, open, idle_ms }: WireOptions): Ask {
  const frames = new RequestFrames(open, protocol.userMessage);
  const prompts = new ProviderPrompt(id);
  const written = new WeakMap<PromptMessage, readonly WirePiece[]>();
  const beginnings = new WeakMap<PromptMessage, Beginning>();
  const provider = id.slice(0, id.indexOf('/'));

  function piecesOf(message: PromptMessage): readonly WirePiece[] {
    const known = written.get(message);
    if (known !== undefined) return known;
    const pieces = prompts
      .fresh(message)
      .map((one) => ({ role: one.role, json: protocol.write(one) }))
      .filter(({ json }) => json !== '');
    if (pieces.every(({ json }) => json.length <= KEPT_MAX)) written.set(message, pieces);
    return pieces;
  }

  /**
   * Cached by the last shared message, an object that related agents have in common. Messages before it may differ: one of these agents may have made room
   * in its context.
   */
  function beginningOf(messages: readonly PromptMessage[]): Beginning {
    const last = messages.at(-1);
    if (last === undefined) return NOTHING;
    const known = beginnings.get(last);
    if (known !== undefined && sameMessages(known.messages, messages)) return known;
    const pieces = messages.flatMap(piecesOf);
    const bytes = Buffer.from(protocol.join(pieces, 0, pieces.length, pieces.length));
    const beginning = { messages, bytes, pieces: pieces.map(({ role }) => ({ role, json: '' })) };
    if (known === undefined) beginnings.set(last, beginning);
    return beginning;
  }

  return async (request, summarised, collector) => {
    const { messages, shared_prefix, cache_key, signal } = request;
    const found = frames.of(request, summarised);
    const frame = found instanceof Promise ? await found : found;
    const { bytes, pieces: inherited } = beginningOf(messages.slice(0, shared_prefix));
    const pieces = [...inherited, ...messages.slice(shared_prefix).flatMap(piecesOf)];
    const own = protocol.join(pieces, inherited.length, pieces.length, inherited.length) + protocol.end;
    const body = bodyOf(frame, bytes, own, cache_key);
    const call = { method: 'POST', headers: frame.headers, body, signal, idle_ms };
    await sendHttp(frame.address, call, async (answer) => {
      const status = answer.statusCode ?? 0;
      const refusal = (refused: Refused) =>
        new APICallError({
          ...refused,
          url: frame.url,
          requestBodyValues: JSON.parse(body.join('')),
          responseHeaders: Object.fromEntries(headersOf(answer)),
        });
      const foreign = foreignAnswer(answer, frame.url);
      try {
        if (foreign !== null) {
          const said = typeOf(answer) === JSON_TYPE ? await textOf(answer) : '';
          answer.destroy();
          if (told(said) !== null) takeError(objectAt(JSON.parse(said), 'an error'), false, collector);
          throw foreign;
        }
        if (status < 200 || status >= 300) {
          const responseBody = await textOf(answer);
          const message = told(responseBody) ?? answer.statusMessage ?? '';
          throw refusal({ message, statusCode: status, responseBody });
        }
        await read(answer, protocol.reader(collector, request.tools, provider), collector);
      } catch (error) {
        if (!(error instanceof RefusedInStream)) throw error;
        throw refusal({ message: error.message, statusCode: error.status, responseBody: error.body });
      }
    });
  };
}

/** Reads to the end of the answer or the first error; never leaves a partially read answer on the connection. */
function read(
  answer: IncomingMessage,
  reader: ReturnType<WireProtocol['reader']>,
  collector: AnswerCollector,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const lines = new EventLines();
    let over = false;
    let timer: NodeJS.Timeout | undefined;
    const onData = (data: string) => {
      if (data === '[DONE]') over = true;
      else if (collector.error === null) reader.event(objectAt(JSON.parse(data), 'an event'));
      clearTimeout(timer);
      timer = reader.closing ? setTimeout(end, CLOSING_MS) : undefined;
    };
    /** Ends the answer; a server that keeps it open loses the connection. */
    const end = () => {
      over = true;
      clearTimeout(timer);
      try {
        reader.end();
        resolve();
      } catch (error) {
        reject(error);
      }
      if (!answer.readableEnded) timer = setTimeout(() => answer.destroy(), CLOSE_MS).unref();
    };
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => {
      if (over) return;
      try {
        lines.push(text, onData);
        if (collector.error === null) {
          if (over || collector.finished) end();
          return;
        }
        resolve();
      } catch (error) {
        reject(error);
      }
      over = true;
      answer.destroy();
    });
    answer.on('end', () => !over && end());
    answer.on('error', (error) => reject(bodyFault(error)));
    answer.on('close', () => clearTimeout(timer));
  });
}

interface Refused {
  readonly message: string;
  readonly statusCode: number;
  readonly responseBody: string;
}

function told(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } | null };
    return typeof error?.message === 'string' ? error.message : null;
  } catch {
    return null;
  }
}

function sameMessages(one: readonly PromptMessage[], other: readonly PromptMessage[]): boolean {
  return one.length === other.length && one.every((message, index) => message === other[index]);
}
