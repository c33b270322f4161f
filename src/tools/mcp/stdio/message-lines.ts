/** A message is parsed at once, which holds the process: more bytes, values or levels would hold it too long. */
const MESSAGE_BYTES = 16 * 1024 * 1024;
const MESSAGE_VALUES = 800_000;
const DEPTH_MAX = 200;
/** More in so long a time is a flood: nobody reads it, and it takes the processor from the agents. */
const FLOOD = { messages: 10_000, bytes: 256 * 1024 * 1024, within_ms: 10_000 };
const NOISE_CHARACTERS = 300;
const [LINE_BREAK, QUOTE, BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END, COLON, COMMA] = Buffer.from(
  '\n"\\{}[]:,',
) as unknown as readonly [number, number, number, number, number, number, number, number, number];

/** What a program that keeps to no bound did, as the end of a sentence about it. */
export class Unbounded extends Error {
  override readonly name = 'Unbounded';
}

/**
 * Messages in what a program writes, one a line. Lines that are none (banners, logs) are left out, because an answer to them would provoke more.
 * Memory is bounded by one message.
 */
export class MessageLines {
  /** The beginning of what was no message. */
  noise = '';
  readonly #now: () => number;
  #parts: Buffer[] = [];
  #length = 0;
  #values = 0;
  #depth = 0;
  #in: 'json' | 'text' | 'escape' = 'json';
  /** The rest of this line is no message. */
  #dropping = false;
  #since: number;
  #messages = 0;
  #bytes = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** The messages that this piece completes. Throws `Unbounded`. */
  *push(chunk: Buffer): Generator<unknown> {
    this.#bytes += chunk.length;
    this.#watchFlood();
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(LINE_BREAK, at);
      const piece = chunk.subarray(at, end === -1 ? chunk.length : end);
      if (this.#dropping) this.#hear(piece);
      else this.#add(piece);
      at += piece.length + 1;
      if (end === -1) return;
      const line = Buffer.concat(this.#parts);
      const dropped = this.#dropping;
      this.#next();
      if (dropped || line.length === 0) continue;
      const message = parsed(line);
      if (message === undefined) this.#hear(line);
      else {
        this.#messages += 1;
        this.#watchFlood();
        yield message;
      }
    }
  }

  #add(piece: Buffer): void {
    if (this.#length === 0 && piece.length > 0) {
      const first = piece.find((byte) => byte > 0x20);
      if (first !== undefined && first !== BRACE && first !== BRACKET) {
        this.#dropping = true;
        return this.#hear(piece);
      }
    }
    this.#count(piece);
    this.#length += piece.length;
    if (this.#length > MESSAGE_BYTES || this.#values > MESSAGE_VALUES)
      throw new Unbounded('it sent a message that is too large');
    if (this.#depth > DEPTH_MAX) throw new Unbounded('it sent a message that is nested too deeply');
    this.#parts.push(Buffer.from(piece));
    // Many small pieces cost more than their bytes.
    if (this.#parts.length > 1024) this.#parts = [Buffer.concat(this.#parts)];
  }

  #count(piece: Buffer): void {
    for (const byte of piece)
      if (this.#in === 'escape') this.#in = 'text';
      else if (this.#in === 'text') {
        if (byte === QUOTE) this.#in = 'json';
        else if (byte === BACKSLASH) this.#in = 'escape';
      } else if (byte === QUOTE) this.#in = 'text';
      else if (byte === BRACE || byte === BRACKET) {
        this.#values += 1;
        this.#depth += 1;
        if (this.#depth > DEPTH_MAX) return;
      } else if (byte === BRACE_END || byte === BRACKET_END) this.#depth -= 1;
      else if (byte === COMMA || byte === COLON) this.#values += 1;
  }

  #next(): void {
    this.#parts = [];
    [this.#length, this.#values, this.#depth] = [0, 0, 0];
    this.#in = 'json';
    this.#dropping = false;
  }

  #hear(piece: Buffer): void {
    if (this.noise.length < NOISE_CHARACTERS)
      this.noise = `${this.noise}${piece.toString('utf8', 0, NOISE_CHARACTERS)}\n`.slice(0, NOISE_CHARACTERS);
  }

  #watchFlood(): void {
    if (this.#messages <= FLOOD.messages && this.#bytes <= FLOOD.bytes) return;
    const now = this.#now();
    if (now - this.#since < FLOOD.within_ms)
      throw new Unbounded('it sent more messages than anybody can read');
    [this.#since, this.#messages, this.#bytes] = [now, 0, 0];
  }
}

/** Undefined: it is no JSON. */
function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
