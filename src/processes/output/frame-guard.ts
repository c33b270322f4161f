import { JsonMeter, MESSAGE_BYTES } from './json-meter.ts';

const LINE_BREAK = 0x0a;
const END = new Uint8Array([LINE_BREAK]);

/**
 * Passes on lines as they come. One that is too large, or nested too deeply, is cut there and its rest dropped: what is left is not JSON, and is
 * answered as any other frame that cannot be parsed. The connection goes on.
 */
export class FrameGuard {
  #bytes = 0;
  readonly #meter = new JsonMeter();
  #dropping = false;
  readonly transform = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      for (const piece of this.take(chunk)) controller.enqueue(piece);
    },
  });

  *take(chunk: Uint8Array): Generator<Uint8Array> {
    for (let at = 0; at < chunk.length; ) {
      const line_break = chunk.indexOf(LINE_BREAK, at);
      const end = line_break === -1 ? chunk.length : line_break + 1;
      if (!this.#dropping) {
        const cut = this.#cutAt(chunk, at, end);
        yield chunk.subarray(at, cut ?? end);
        if (cut !== null) {
          this.#dropping = true;
          yield END;
        }
      }
      if (line_break !== -1) {
        this.#dropping = false;
        this.#bytes = 0;
        this.#meter.reset();
      }
      at = end;
    }
  }

  /** Where the line is cut; null: it may go on. */
  #cutAt(chunk: Uint8Array, start: number, end: number): number | null {
    const room = MESSAGE_BYTES - this.#bytes;
    this.#bytes += end - start;
    const fits = Math.min(end, start + room);
    return this.#meter.exceeded(chunk, start, fits)?.at ?? (fits < end ? fits : null);
  }
}
