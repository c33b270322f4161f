import { JsonMeter, MESSAGE_BYTES } from '../../../processes/output/json-meter.ts';
import { jsonIn } from '../../../records/text/json-text.ts';
import { FloodWatch, LimitExceeded } from './flood-watch.ts';

const NOISE_CHARACTERS = 300;
const LINE_BREAK = 0x0a;
const BRACE = 0x7b;
const BRACKET = 0x5b;

/**
 * Reads messages from a program's output, one per line. Other lines (banners, logs) are dropped, because an answer to them would provoke more.
 * Memory is bounded by one message.
 */
export class MessageLines {
  /** The beginning of the output that was not a message. */
  noise = '';
  readonly #flood: FloodWatch;
  #parts: Buffer[] = [];
  #length = 0;
  readonly #meter = new JsonMeter();
  /** Whether the rest of this line is dropped, because it is not a message. */
  #dropping = false;

  constructor(now?: () => number) {
    this.#flood = new FloodWatch(now);
  }

  /** Yields the messages that this chunk completes. Throws `LimitExceeded`. */
  *push(chunk: Buffer): Generator<unknown> {
    this.#flood.add(0, chunk.length);
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
      const message = jsonIn(line.toString('utf8'));
      if (message === undefined) this.#hear(line);
      else {
        this.#flood.add(1, 0);
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
    this.#length += piece.length;
    const beyond = this.#meter.exceeded(piece);
    if (beyond?.limit === 'depth') throw new LimitExceeded('it sent a message that is nested too deeply');
    if (beyond !== null || this.#length > MESSAGE_BYTES)
      throw new LimitExceeded('it sent a message that is too large');
    this.#parts.push(Buffer.from(piece));
    // Many small pieces cost more than their bytes.
    if (this.#parts.length > 1024) this.#parts = [Buffer.concat(this.#parts)];
  }

  #next(): void {
    this.#parts = [];
    this.#length = 0;
    this.#meter.reset();
    this.#dropping = false;
  }

  #hear(piece: Buffer): void {
    if (this.noise.length < NOISE_CHARACTERS)
      this.noise = `${this.noise}${piece.toString('utf8', 0, NOISE_CHARACTERS)}\n`.slice(0, NOISE_CHARACTERS);
  }
}
