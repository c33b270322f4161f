import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';

/** Older marks are forgotten: those trees then count as seen up to the newest forgotten mark. */
const MARKS_MAX = 300;

const shape = z.object({ since: z.number(), trees: z.record(z.string(), z.number()) });

/** What the person has seen, in milliseconds of the ledger's clock. */
export interface Seen {
  /** Everything up to then. */
  readonly since: number;
  /** By root. */
  readonly trees: ReadonlyMap<string, number>;
}

/**
 * Up to which change the person has seen each tree, in a file that all their windows share. The ledger cannot know it: it has no people.
 * A convenience: a file that cannot be read or written counts as new, and then nothing of before is unread.
 */
export class SeenTrees {
  readonly #file: string;
  #seen: Seen;

  /** `now`: from then on there is something to be read, if nothing was ever seen. */
  constructor(file: string, now: number) {
    this.#file = file;
    this.#seen = { since: now, trees: new Map() };
    const kept = this.#kept();
    if (kept === null) this.#write();
    else this.#seen = kept;
  }

  read(): Seen {
    this.#seen = this.#kept() ?? this.#seen;
    return this.#seen;
  }

  mark(root_id: string, updated_at: number): void {
    const { since, trees } = this.read();
    if (updated_at <= (trees.get(root_id) ?? since)) return;
    const marks = [...trees, [root_id, updated_at] as const].toSorted(([, a], [, b]) => b - a);
    const forgotten = marks[MARKS_MAX]?.[1] ?? since;
    this.#seen = { since: Math.max(since, forgotten), trees: new Map(marks.slice(0, MARKS_MAX).reverse()) };
    this.#write();
  }

  #kept(): Seen | null {
    try {
      const { since, trees } = shape.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
      return { since, trees: new Map(Object.entries(trees)) };
    } catch {
      return null;
    }
  }

  #write(): void {
    const { since, trees } = this.#seen;
    const beside = `${this.#file}.${process.pid}`;
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(beside, JSON.stringify({ since, trees: Object.fromEntries(trees) }), { mode: 0o600 });
      renameSync(beside, this.#file);
    } catch {
      // Kept until the program ends.
    }
  }
}
