import { createHash } from 'node:crypto';
import type { VirtualTime } from './virtual-time.ts';

/** Everything that happened in a run, in order, and its hash. */
export class Trace {
  readonly #time: VirtualTime;
  readonly #began_at: number;
  readonly #hash = createHash('sha256');
  readonly #show: ((line: string) => void) | null;

  constructor(time: VirtualTime, show: ((line: string) => void) | null) {
    this.#time = time;
    this.#began_at = time.now;
    this.#show = show;
  }

  add(who: string, what: string): void {
    const line = `${String(this.#time.now - this.#began_at).padStart(9)} ${who.padEnd(5)} ${what}`;
    this.#hash.update(`${line}\n`);
    this.#show?.(line);
  }

  /** Returns the hash in hex; nothing can be added afterwards. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 32);
  }
}
