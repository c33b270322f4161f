/** Limits of one message, which is parsed synchronously: more bytes or values would block the process for too long. */
export const MESSAGE_BYTES = 20 * 1024 * 1024;
export const MESSAGE_VALUES = 800_000;
/** Maximum nesting depth, far below the depth at which code that walks a value overflows the call stack. */
export const MESSAGE_DEPTH = 200;

const [QUOTE, BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END, COLON, COMMA] = Buffer.from(
  '"\\{}[]:,',
) as unknown as readonly [number, number, number, number, number, number, number, number];

/** Counts the values and the nesting depth of a JSON message from its bytes as they arrive, without parsing them. */
export class JsonMeter {
  #values = 0;
  #depth = 0;
  #in: 'json' | 'text' | 'escape' = 'json';

  /** Counts these bytes. Returns the offset of the first byte beyond a limit, and the limit; null if there is none. */
  exceeded(
    bytes: Uint8Array,
    start = 0,
    end = bytes.length,
  ): { readonly at: number; readonly limit: 'values' | 'depth' } | null {
    for (let at = start; at < end; at += 1) {
      this.#see(bytes[at]!);
      if (this.#depth > MESSAGE_DEPTH) return { at, limit: 'depth' };
      if (this.#values > MESSAGE_VALUES) return { at, limit: 'values' };
    }
    return null;
  }

  /** Begins the next message. */
  reset(): void {
    [this.#values, this.#depth, this.#in] = [0, 0, 'json'];
  }

  #see(byte: number): void {
    // JSON strings contain no raw control characters: an unterminated one must not hide the lines that follow.
    if (byte < 0x20) this.#in = 'json';
    else if (this.#in === 'escape') this.#in = 'text';
    else if (this.#in === 'text') {
      if (byte === QUOTE) this.#in = 'json';
      else if (byte === BACKSLASH) this.#in = 'escape';
    } else if (byte === QUOTE) this.#in = 'text';
    else if (byte === BRACE || byte === BRACKET) {
      this.#values += 1;
      this.#depth += 1;
    } else if (byte === BRACE_END || byte === BRACKET_END) this.#depth -= 1;
    else if (byte === COMMA || byte === COLON) this.#values += 1;
  }
}
