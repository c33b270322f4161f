import type { Enough } from './enough.ts';
import type { Look } from './look.ts';
import type { Entry } from './state/entry.ts';
import { entryBelow } from './views/transcript/entry-view.ts';
import type { NameContext } from './views/transcript/name-context.ts';

/** Prints the entries of one agent, each once; what takes long to draw comes in parts. */
export class EntryPrinter {
  /** The next entry to print. */
  #next: number;
  /** What is not printed yet of it. */
  #rest: Iterator<readonly string[]> | null = null;

  constructor(first: number) {
    this.#next = first;
  }

  /** The next lines of the entries before `end`; `whole`: there are no more. */
  lines(
    entries: readonly Entry[],
    end: number,
    { width, look, names, enough }: { width: number; look: Look; names: NameContext; enough: Enough },
  ): { readonly lines: readonly string[]; readonly whole: boolean } {
    const lines: string[] = [];
    while (this.#next < end) {
      const entry = entries[this.#next] as Entry;
      this.#rest ??= entryBelow(entry, entries[this.#next - 1] ?? null, width, look, names)[
        Symbol.iterator
      ]();
      const batch = this.#rest.next();
      if (batch.done === true) {
        this.#rest = null;
        this.#next += 1;
        continue;
      }
      for (const line of batch.value) lines.push(line);
      if (enough(batch.value.length)) break;
    }
    return { lines, whole: this.#next >= end };
  }
}
