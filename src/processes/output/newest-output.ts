import { TerminalScreen } from '../../records/text/terminal-screen.ts';
import { firstCharacter } from './output-capture.ts';

/** Keeps the last `limit` bytes of what a terminal would show of a command's output, in bounded memory. */
export class NewestOutput {
  readonly #limit: number;
  readonly #screen = new TerminalScreen();
  #chunks: Buffer[] = [];
  #length = 0;
  /** Whether the beginning was dropped. */
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    const done = Buffer.from(this.#screen.push(chunk.toString('latin1')), 'latin1');
    this.#chunks.push(done);
    this.#length += done.length;
    // Joined only now and then: many small pieces must not cost a copy each.
    if (this.#length > 2 * this.#limit + 64 * 1024 || this.#chunks.length > 1024) this.#trim();
  }

  /** Returns the kept text, without a character that is cut off at its beginning. */
  text(): string {
    this.#trim();
    const all = Buffer.concat([...this.#chunks, Buffer.from(this.#screen.end(), 'latin1')]);
    this.truncated ||= all.length > this.#limit;
    const kept = all.subarray(Math.max(0, all.length - this.#limit));
    return kept.toString('utf8', this.truncated ? firstCharacter(kept) : 0);
  }

  #trim(): void {
    const all = Buffer.concat(this.#chunks);
    if (all.length > this.#limit) this.truncated = true;
    const kept = this.#limit === 0 ? Buffer.alloc(0) : all.subarray(-this.#limit);
    // A copy, so that the dropped bytes can be freed.
    this.#chunks = [Buffer.from(kept)];
    this.#length = kept.length;
  }
}
