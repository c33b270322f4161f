import { firstCharacter } from './output-capture.ts';

/** Keeps the last `limit` bytes of what a command writes, in bounded memory. */
export class NewestOutput {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Whether the beginning was dropped. */
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // Joined only now and then: many small pieces must not cost a copy each.
    if (this.#length > 2 * this.#limit + 64 * 1024 || this.#chunks.length > 1024) this.#trim();
  }

  /** Returns the kept text, without a character that is cut off at its beginning. */
  text(): string {
    this.#trim();
    const [kept = Buffer.alloc(0)] = this.#chunks;
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
