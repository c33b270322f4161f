import { createHash } from 'node:crypto';

/** Pseudo-random numbers, reproducible by seed (sfc32). A branch is independent of how often other branches were used. */
export class Random {
  readonly #seed: string;
  readonly #state: Uint32Array;

  constructor(seed: string) {
    this.#seed = seed;
    const digest = createHash('sha256').update(seed).digest();
    this.#state = new Uint32Array(digest.buffer.slice(digest.byteOffset, digest.byteOffset + 16));
    for (let round = 0; round < 12; round += 1) this.next();
  }

  branch(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** A number in [0, 1). */
  next(): number {
    const state = this.#state as unknown as [number, number, number, number];
    const [a, b, c, d] = state;
    const sum = (a + b + d) >>> 0;
    state[3] = d + 1;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + sum;
    return sum / 2 ** 32;
  }

  /** An integer; both bounds are inclusive. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T;
  }

  /** Shuffles in place. */
  shuffle(list: unknown[]): void {
    for (let last = list.length - 1; last > 0; last -= 1) {
      const other = this.between(0, last);
      [list[last], list[other]] = [list[other], list[last]];
    }
  }

  /** A UUID in the form of version 4, so that it is accepted as one. */
  uuid(): string {
    const hex = Array.from({ length: 8 }, () => this.between(0, 0xffff).toString(16).padStart(4, '0')).join(
      '',
    );
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
