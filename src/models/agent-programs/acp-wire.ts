import { type AnyMessage, MessageTooLargeError, ndJsonStream, type Stream } from '@agentclientprotocol/sdk';
import { JsonMeter, MESSAGE_BYTES } from '../../processes/output/json-meter.ts';

export interface AcpWire {
  readonly stream: Stream;
  /** The beginning of the program's standard output that was not a message. */
  readonly noise: () => string;
}

const NOISE_CHARACTERS = 300;
const BRACE = 0x7b;
const LINE_BREAK = 0x0a;

/**
 * The program's standard streams as a message stream. Lines that cannot be messages (banners, logs) are dropped, because answering them
 * with errors, as the protocol library does, provokes more of them. `onUpdate` gets the parameters of every
 * `session/update`, synchronously and before any later message is seen, so that an answer never overtakes its text.
 */
export function acpWire(
  stdin: WritableStream<Uint8Array>,
  stdout: ReadableStream<Uint8Array>,
  onUpdate: (params: unknown) => void,
): AcpWire {
  const lines = new MessageLines();
  const inner = ndJsonStream(stdin, stdout.pipeThrough(lines.transform), {
    maxMessageBytes: MESSAGE_BYTES,
  });
  const asked = new Set<unknown>();
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      if ('method' in message) {
        if (message.method === 'session/update' && !('id' in message)) onUpdate(message.params);
        else controller.enqueue(message);
        return;
      }
      // An answer without a request: the library would log it to our stderr.
      if (asked.delete(message.id)) controller.enqueue(message);
    },
  });
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      if ('method' in message && 'id' in message) asked.add(message.id);
      controller.enqueue(message);
    },
  });
  // Broken pipes end the readable side and thereby the connection; nobody awaits this promise.
  outgoing.readable.pipeTo(inner.writable).catch(() => undefined);
  const stream = { readable: inner.readable.pipeThrough(incoming), writable: outgoing.writable };
  return { stream, noise: () => lines.noise };
}

/** Passes on lines that start like an object, without buffering them; a line with too many values or levels ends the stream. */
class MessageLines {
  noise = '';
  #state: 'start' | 'pass' | 'drop' = 'start';
  readonly #decoder = new TextDecoder();
  readonly #meter = new JsonMeter();
  readonly transform = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      for (let at = 0; at < chunk.length; ) {
        if (this.#state === 'start') {
          const byte = chunk[at]!;
          if (byte <= 0x20) {
            at += 1;
            continue;
          }
          this.#state = byte === BRACE ? 'pass' : 'drop';
          this.#meter.reset();
        }
        const end = chunk.indexOf(LINE_BREAK, at);
        const piece = chunk.subarray(at, end === -1 ? chunk.length : end + 1);
        if (this.#state === 'pass') {
          if (this.#meter.exceeded(piece) !== null) throw new MessageTooLargeError(MESSAGE_BYTES);
          controller.enqueue(piece);
        } else if (this.noise.length < NOISE_CHARACTERS)
          this.noise = (this.noise + this.#decoder.decode(piece)).slice(0, NOISE_CHARACTERS);
        if (end !== -1) this.#state = 'start';
        at += piece.length;
      }
    },
  });
}
