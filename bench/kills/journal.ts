import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Point, Situation, StepKind } from './kill-points.ts';
import type { Offer } from './offer.ts';

/** One line of the journal of one process. */
export type JournalLine =
  | { readonly type: 'offer'; readonly n: number; readonly offers: readonly Offer[] }
  /** The ledger's answer to offer `n`, on disk before it is passed on. */
  | { readonly type: 'answer'; readonly n: number; readonly taken: readonly boolean[] }
  /** `n`: the newest offer. */
  | {
      readonly type: 'death';
      readonly point: Point;
      readonly hit: StepKind | Situation;
      readonly n: number;
    };

/** A log beside the ledger, written by the process that is to be killed; the judge compares it with the ledger. */
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

/** One kill that fired. */
export interface Death {
  readonly point: Point;
  readonly hit: StepKind | Situation;
  /** Offers that the ledger had not answered. */
  readonly open: readonly Offer[];
}

/** The journals of all leaders of a run. */
export interface Journals {
  /** Accepted and acknowledged by the ledger. */
  readonly acknowledged: readonly Offer[];
  /** Refused by the ledger. */
  readonly refused: readonly Offer[];
  readonly deaths: readonly Death[];
}

/** Reads the journals of the lives 1 to `lives`. */
export function readJournals(folder: string, lives: number): Journals {
  const all = Array.from({ length: lives }, (_, index) => readJournal(folder, index + 1));
  return {
    acknowledged: all.flatMap(({ acknowledged }) => acknowledged),
    refused: all.flatMap(({ refused }) => refused),
    deaths: all.flatMap(({ deaths }) => deaths),
  };
}

export function readJournal(folder: string, life: number): Journals {
  const lines = readFileSync(join(folder, `journal-${life}`), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JournalLine);
  const open = new Map<number, readonly Offer[]>();
  const [acknowledged, refused]: [Offer[], Offer[]] = [[], []];
  const deaths: Pick<Death, 'point' | 'hit'>[] = [];
  for (const line of lines) {
    if (line.type === 'offer') open.set(line.n, line.offers);
    else if (line.type === 'death') deaths.push(line);
    else {
      for (const [index, offer] of (open.get(line.n) ?? []).entries())
        (line.taken[index] === true ? acknowledged : refused).push(offer);
      open.delete(line.n);
    }
  }
  const left = [...open.values()].flat();
  return { acknowledged, refused, deaths: deaths.map(({ point, hit }) => ({ point, hit, open: left })) };
}
