import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { replaceFile } from '../../permissions/replace-file.ts';

/** Maximum marks kept; trees whose marks are dropped count as seen up to the newest dropped mark. */
const MARKS_MAX = 300;

const shape = z.object({ since: z.number(), trees: z.record(z.string(), z.number()) });

/** Times up to which the person has seen changes, in milliseconds of the ledger's clock. */
export interface Seen {
  /** Up to then, every tree counts as seen. */
  readonly since: number;
  /** Later times, by root. */
  readonly trees: ReadonlyMap<string, number>;
}

/**
 * Remembers up to which change the person has seen each tree, in a file that all their windows share; the ledger has no record of people.
 * Best effort: a file that cannot be read counts as new, and then no earlier change is unread; if it cannot be written, marks stay in memory.
 */
export class SeenTrees {
  readonly #file: string;
  #seen: Seen;

  /** `now`: if there is no file yet, only later changes count as unread. */
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
    try {
      replaceFile(this.#file, JSON.stringify({ since, trees: Object.fromEntries(trees) }));
    } catch {
      // Best effort: the marks are kept in memory.
    }
  }
}
