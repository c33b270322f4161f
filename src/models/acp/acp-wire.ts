import { type AnyMessage, ndJsonStream, type Stream } from '@agentclientprotocol/sdk';

export interface AcpWire {
  readonly stream: Stream;
  /** The beginning of what the program wrote to its standard output that is no message. */
  readonly noise: () => string;
}

const NOISE_CHARACTERS = 300;
const BRACE = 0x7b;
const LINE_BREAK = 0x0a;

/**
 * The program's standard streams as messages. Lines that cannot be messages (banners, logs) are dropped: to answer them
 * with errors, as the protocol library does, makes programs write more. `onUpdate` gets the parameters of every
 * `session/update`, synchronously and before any later message is seen, so that an answer never overtakes its text.
 */
export function acpWire(
  stdin: WritableStream<Uint8Array>,
  stdout: ReadableStream<Uint8Array>,
  onUpdate: (params: unknown) => void,
): AcpWire {
  const lines = new MessageLines();
  const inner = ndJsonStream(stdin, stdout.pipeThrough(lines.transform));
  const asked = new Set<unknown>();
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      if ('method' in message) {
        if (message.method === 'session/update' && !('id' in message)) onUpdate(message.params);
        else controller.enqueue(message);
        return;
      }
      // An answer to nothing: the library would complain about it on our own standard error.
      if (asked.delete(message.id)) controller.enqueue(message);
    },
  });
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      if ('method' in message && 'id' in message) asked.add(message.id);
      controller.enqueue(message);
    },
  });
  // Broken pipes end the readable side, and with it the connection; nobody waits for this promise.
  outgoing.readable.pipeTo(inner.writable).catch(() => undefined);
  const stream = { readable: inner.readable.pipeThrough(incoming), writable: outgoing.writable };
  return { stream, noise: () => lines.noise };
}

/** Lets lines through that begin like an object, without keeping any of them. */
class MessageLines {
  noise = '';
  #state: 'start' | 'pass' | 'drop' = 'start';
  readonly #decoder = new TextDecoder();
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
        }
        const end = chunk.indexOf(LINE_BREAK, at);
        const piece = chunk.subarray(at, end === -1 ? chunk.length : end + 1);
        if (this.#state === 'pass') controller.enqueue(piece);
        else if (this.noise.length < NOISE_CHARACTERS)
          this.noise = (this.noise + this.#decoder.decode(piece)).slice(0, NOISE_CHARACTERS);
        if (end !== -1) this.#state = 'start';
        at += piece.length;
      }
    },
  });
}
