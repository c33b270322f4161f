import { JsonMeter, MESSAGE_BYTES } from '../../../processes/output/json-meter.ts';
import { FloodWatch, LimitExceeded } from './flood-watch.ts';
import type { LenientAnswers } from './lenient-answers.ts';

const LINE_BREAK = 0x0a;
const RETURN = 0x0d;

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
  const has_events = hasEvents(response);
  const bounds = new BodyBounds(has_events);
  const within = response.body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        try {
          bounds.add(chunk);
        } catch (error) {
          onExceeded((error as LimitExceeded).message);
          throw error;
        }
        controller.enqueue(chunk);
      },
    }),
  );
  const body = answers === undefined ? within : within.pipeThrough(read(answers, has_events));
  const same = new Response(body, { status, statusText, headers });
  // The protocol library resolves addresses against it.
  Object.defineProperty(same, 'url', { value: response.url });
  return same;
}

/** Passes on the messages of a body as they are meant: of the whole, or of each line of data of its events. */
function read(answers: LenientAnswers, has_events: boolean) {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let parts: string[] = [];
  const events = (text: string) =>
    text.replaceAll(/(?<![^\r\n])data:([^\r\n]*)(\r\n|[\r\n])/g, (_, data: string, end: string) =>
      [...answers.texts(data)].map((one) => `data: ${one}${end}`).join(end),
    );
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      const end = has_events ? Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1 : 0;
      if (end > 0) controller.enqueue(encoder.encode(events(parts.join('') + text.slice(0, end))));
      if (end > 0) parts = [];
      parts.push(text.slice(end));
    },
    flush(controller) {
      const rest = parts.join('');
      const all = has_events ? [rest === '' ? '' : events(`${rest}\n\n`)] : [...answers.texts(rest)];
      controller.enqueue(encoder.encode(all.length > 1 ? `[${all.join()}]` : all.join('')));
    },
  });
}

/** The limits of one body: a single message or, in an event stream, one message per event, each ended by an empty line. */
class BodyBounds {
  readonly #has_events: boolean;
  readonly #meter = new JsonMeter();
  readonly #flood = new FloodWatch();
  #bytes = 0;
  #is_line_empty = true;
  #after_return = false;

  constructor(has_events: boolean) {
    this.#has_events = has_events;
  }

  /** Throws `LimitExceeded`. */
  add(chunk: Uint8Array): void {
    let from = 0;
    let events = 0;
    if (this.#has_events)
      for (let at = 0; at < chunk.length; at += 1)
        if (this.#endsEvent(chunk[at]!)) {
          this.#count(chunk, from, at);
          this.#meter.reset();
          this.#bytes = 0;
          from = at + 1;
          events += 1;
        }
    this.#count(chunk, from, chunk.length);
    this.#flood.add(events, chunk.length);
  }

  #count(chunk: Uint8Array, from: number, to: number): void {
    this.#bytes += to - from;
    if (this.#bytes > MESSAGE_BYTES || this.#meter.exceeded(chunk, from, to) !== null)
      throw new LimitExceeded('it sent a message that is too large');
  }

  /** A line ends with `\n`, `\r`, or both. */
  #endsEvent(byte: number): boolean {
    const is_second = byte === LINE_BREAK && this.#after_return;
    this.#after_return = byte === RETURN;
    if (is_second) return false;
    const is_end = byte === LINE_BREAK || byte === RETURN;
    const ends = is_end && this.#is_line_empty;
    this.#is_line_empty = is_end;
    return ends;
  }
}
