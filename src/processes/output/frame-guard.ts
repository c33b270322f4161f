import { JsonMeter, MESSAGE_BYTES } from './json-meter.ts';

const LINE_BREAK = 0x0a;
const END = new Uint8Array([LINE_BREAK]);

/**
 * Forwards lines as they arrive. A line that is too large or too deeply nested is cut off, and its rest dropped: the remainder is not valid JSON, and is
 * answered like any other frame that cannot be parsed. The connection stays open.
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

  /** Returns the offset at which to cut the line, or null if it is within the limits. */
  #cutAt(chunk: Uint8Array, start: number, end: number): number | null {
    const room = MESSAGE_BYTES - this.#bytes;
    this.#bytes += end - start;
    const fits = Math.min(end, start + room);
    return this.#meter.exceeded(chunk, start, fits)?.at ?? (fits < end ? fits : null);
  }
}
