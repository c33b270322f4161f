/** Keeps the newest bytes of what a command writes, as many as it is given, whatever comes. */
export class NewestOutput {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #length = 0;
  /** The beginning was dropped. */
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // Joined only now and then: small pieces without end must not cost a copy each.
    if (this.#length > 2 * this.#limit + 64 * 1024 || this.#chunks.length > 1024) this.#trim();
  }

  /** The text that is kept; a character cut in half at its beginning is left out. */
  text(): string {
    this.#trim();
    const [kept = Buffer.alloc(0)] = this.#chunks;
    let start = 0;
    if (this.truncated) while (start < Math.min(3, kept.length) && (kept[start]! & 0xc0) === 0x80) start += 1;
    return kept.toString('utf8', start);
  }

  #trim(): void {
    const all = Buffer.concat(this.#chunks);
    if (all.length > this.#limit) this.truncated = true;
    const kept = this.#limit === 0 ? Buffer.alloc(0) : all.subarray(-this.#limit);
    // A copy, so that what was dropped can be freed.
    this.#chunks = [Buffer.from(kept)];
    this.#length = kept.length;
  }
}
