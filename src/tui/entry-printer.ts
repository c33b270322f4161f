import type { UiStyle } from '../render/style.ts';
import type { Entry } from './state/entry.ts';
import type { FrameBudget } from './text/frame-budget.ts';
import type { AgentNames } from './views/transcript/agent-names.ts';
import { entryBelow } from './views/transcript/entry-view.ts';

/** Renders the entries of one agent for printing, each once; a long one in several frames. */
export class EntryPrinter {
  /** The next entry to print. */
  #next: number;
  /** The rest of an entry that is printed in part. */
  #rest: Iterator<readonly string[]> | null = null;

  constructor(first: number) {
    this.#next = first;
  }

  /** The next lines of the entries before `end`; `whole`: that is all. */
  lines(
    entries: readonly Entry[],
    end: number,
    { width, style, names, spend }: { width: number; style: UiStyle; names: AgentNames; spend: FrameBudget },
  ): { readonly lines: readonly string[]; readonly whole: boolean } {
    const lines: string[] = [];
    while (this.#next < end) {
      const entry = entries[this.#next] as Entry;
      this.#rest ??= entryBelow(entry, entries[this.#next - 1] ?? null, width, style, names)[
        Symbol.iterator
      ]();
      const batch = this.#rest.next();
      if (batch.done === true) {
        this.#rest = null;
        this.#next += 1;
        continue;
      }
      for (const line of batch.value) lines.push(line);
      if (spend(batch.value.length)) break;
    }
    return { lines, whole: this.#next >= end };
  }
}
