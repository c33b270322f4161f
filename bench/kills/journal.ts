import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import type { Point, Situation, StepKind } from './kill-points.ts';
import type { Offer } from './offer.ts';

/** One line of the journal of one process. */
export type JournalLine =
  | { readonly type: 'offer'; readonly n: number; readonly offers: readonly Offer[] }
  /** The ledger said so of the offers of that number, and nobody had been told before this line was on the disk. */
  | { readonly type: 'answer'; readonly n: number; readonly taken: readonly boolean[] }
  /** `n`: what was under way. */
  | {
      readonly type: 'death';
      readonly point: Point;
      readonly hit: StepKind | Situation;
      readonly n: number;
    };

/** A diary beside the ledger, written by the process that is to be killed: what the judge holds against the ledger. */
export class Journal {
  readonly #file: number;
  #offered = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  offer(offers: readonly Offer[]): number {
    this.#offered += 1;
    this.#write({ type: 'offer', n: this.#offered, offers });
    return this.#offered;
  }

  answer(n: number, taken: readonly boolean[]): void {
    this.#write({ type: 'answer', n, taken });
    fdatasyncSync(this.#file);
  }

  death(point: Point, hit: StepKind | Situation): void {
    this.#write({ type: 'death', point, hit, n: this.#offered });
  }

  #write(line: JournalLine): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}
