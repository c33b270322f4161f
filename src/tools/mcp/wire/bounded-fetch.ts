import { JsonMeter, MESSAGE_BYTES } from '../../../processes/output/json-meter.ts';
import { FloodWatch, LimitExceeded } from './flood-watch.ts';

const LINE_BREAK = 0x0a;
const RETURN = 0x0d;

/** `fetch`, whose response body fails if a message, or the bytes that arrive in a short time, exceed the limits. */
export const boundedFetch = fetchWithBounds(() => undefined);

/** Like `boundedFetch`. `onExceeded` is called with the reason, because the protocol library does not report errors of event streams. */
export function fetchWithBounds(onExceeded: (why: string) => void) {
  return async (url: string | URL, init?: RequestInit): Promise<Response> =>
    bounded(await fetch(url, init), onExceeded);
}

function bounded(response: Response, onExceeded: (why: string) => void): Response {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const bounds = new BodyBounds(headers.get('content-type')?.startsWith('text/event-stream') ?? false);
  const body = response.body.pipeThrough(
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
  const same = new Response(body, { status, statusText, headers });
  // The protocol library resolves addresses against it.
  Object.defineProperty(same, 'url', { value: response.url });
  return same;
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
