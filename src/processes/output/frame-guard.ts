/** A frame is parsed synchronously: more bytes or values would block the process for too long. */
export const FRAME_BYTES = 20 * 1024 * 1024;
export const FRAME_VALUES = 800_000;
/** Far below the depth at which code that walks a value overflows the call stack. */
export const FRAME_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_BREAK = 0x0a;
const END = new Uint8Array([LINE_BREAK]);

/**
 * Passes on lines as they come. One that is too large, or nested too deeply, is cut there and its rest dropped: what is left is not JSON, and is
 * answered as any other frame that cannot be parsed. The connection goes on.
 */
export class FrameGuard {
  #bytes = 0;
  #values = 0;
  #depth = 0;
  #in: 'json' | 'text' | 'escape' = 'json';
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
        [this.#bytes, this.#values, this.#depth, this.#in] = [0, 0, 0, 'json'];
      }
      at = end;
    }
  }

  /** Where the line is cut; null: it may go on. */
  #cutAt(chunk: Uint8Array, start: number, end: number): number | null {
    const room = FRAME_BYTES - this.#bytes;
    this.#bytes += end - start;
    for (let at = start; at < end; at += 1) {
      if (at - start >= room) return at;
      this.#see(chunk[at] as number);
      if (this.#values > FRAME_VALUES || this.#depth > FRAME_DEPTH) return at;
    }
    return null;
  }

  #see(byte: number): void {
    if (this.#in === 'escape') this.#in = 'text';
    else if (this.#in === 'text') {
      if (byte === QUOTE) this.#in = 'json';
      else if (byte === BACKSLASH) this.#in = 'escape';
    } else if (byte === QUOTE) this.#in = 'text';
    else if (byte === 0x7b || byte === 0x5b) {
      this.#values += 1;
      this.#depth += 1;
    } else if (byte === 0x7d || byte === 0x5d) this.#depth -= 1;
    else if (byte === 0x2c || byte === 0x3a) this.#values += 1;
  }
}
