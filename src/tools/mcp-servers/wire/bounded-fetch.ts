import { createParser } from 'eventsource-parser';
import { JsonMeter, MESSAGE_BYTES } from '../../../processes/output/json-meter.ts';
import { FloodWatch, LimitExceeded } from './flood-watch.ts';
import type { LenientAnswers } from './lenient-answers.ts';

/** `fetch`, whose response body fails if a message, or the bytes that arrive in a short time, exceed the limits. */
export const boundedFetch = fetchWithBounds(() => undefined);

/** Like `boundedFetch`, for answers of a server. `onExceeded` is called with the reason, because the protocol library does not report errors of event streams. */
export function fetchWithBounds(onExceeded: (why: string) => void, answers?: LenientAnswers) {
  return async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    // Logins use it, too: their answers are not messages.
    const has_message = hasEvents(response) || String(init?.body).includes('"jsonrpc"');
    return bounded(response, onExceeded, has_message && response.ok ? answers : undefined);
  };
}

function hasEvents({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

function bounded(
  response: Response,
  onExceeded: (why: string) => void,
  answers: LenientAnswers | undefined,
): Response {
  if (response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // The library reads nothing that is not called JSON.
  if (answers !== undefined && /^(?:text\/plain|$)/.test(headers.get('content-type') ?? ''))
    headers.set('content-type', 'application/json');
  // A refusal may call itself one, and is none.
  const has_events = response.ok && hasEvents(response);
  const body = response.body.pipeThrough(withinLimits(has_events, onExceeded, answers));
  const same = new Response(body, { status, statusText, headers });
  // The protocol library resolves addresses against it.
  Object.defineProperty(same, 'url', { value: response.url });
  return same;
}

/** Each ends an event, if only an empty one, which takes time as well. */
const EMPTY_LINES = /(?:\r\n|\r(?!\n)|\n)(?=[\r\n])/g;

/** Passes on a body, which is one message, or in a stream of events one in each, as it is meant; fails with `LimitExceeded`. */
function withinLimits(
  has_events: boolean,
  onExceeded: (why: string) => void,
  answers: LenientAnswers | undefined,
) {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  const [meter, flood] = [new JsonMeter(), new FloodWatch()];
  const texts = (text: string) => [...(answers?.texts(text) ?? [text])];
  const tooLarge = () => new LimitExceeded('it sent a message that is too large');
  let [bytes, last, out] = [0, '', ''];
  const measure = (piece: Uint8Array): void => {
    bytes += piece.length;
    if (bytes > MESSAGE_BYTES || meter.exceeded(piece) !== null) throw tooLarge();
  };
  const parser = createParser({
    maxBufferSize: MESSAGE_BYTES,
    onEvent: ({ id, event, data }) => {
      bytes = 0;
      meter.reset();
      measure(Buffer.from(data));
      const lines = texts(data).map((one) => `data: ${one.replaceAll('\n', '\ndata: ')}\n`);
      const named = event === undefined ? '' : `event: ${event}\n`;
      out += `${id === undefined ? '' : `id: ${id}\n`}${named}${lines.join('\n')}\n`;
    },
    onRetry: (ms) => {
      out += `retry: ${ms}\n\n`;
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw tooLarge();
    },
  });
  const take = (chunk: Uint8Array): void => {
    const text = answers === undefined && !has_events ? '' : decoder.decode(chunk, { stream: true });
    flood.add(has_events ? ((last + text).match(EMPTY_LINES)?.length ?? 0) : 0, chunk.length);
    last = text.at(-1) ?? last;
    if (has_events) return parser.feed(text);
    measure(chunk);
    out += text;
  };
  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      onExceeded((error as LimitExceeded).message);
      throw error;
    }
  };
  const passOn = (controller: TransformStreamDefaultController<Uint8Array<ArrayBuffer>>): void => {
    if (out !== '') controller.enqueue(encoder.encode(out));
    out = '';
  };
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      guarded(() => take(chunk));
      if (has_events) passOn(controller);
      else if (answers === undefined) controller.enqueue(chunk);
    },
    flush(controller) {
      if (has_events) guarded(() => parser.feed('\n\n'));
      else if (answers !== undefined) {
        const all = texts(out);
        out = all.length > 1 ? `[${all.join()}]` : all.join('');
      }
      passOn(controller);
    },
  });
}
