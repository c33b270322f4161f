import type { Entry } from '../entry.ts';
import type { Look } from '../look.ts';
import { entryBelow } from './entry-view.ts';
import type { NameContext } from './name-context.ts';

/** Keeps the lines of entries: an entry that did not change is rendered once for a width and a look. */
export class EntryLines {
  #kept = new WeakMap<Entry, { readonly before: Entry | null; readonly lines: readonly string[] }>();
  #key = '';

  lines(
    entry: Entry,
    before: Entry | null,
    width: number,
    look: Look,
    names: NameContext,
  ): readonly string[] {
    const key = `${width} ${look.colour} ${look.unicode} ${look.accessible}`;
    if (key !== this.#key) [this.#kept, this.#key] = [new WeakMap(), key];
    const kept = this.#kept.get(entry);
    if (kept !== undefined && kept.before === before) return kept.lines;
    const lines = entryBelow(entry, before, width, look, names);
    this.#kept.set(entry, { before, lines });
    return lines;
  }
}

export interface TranscriptLook {
  readonly width: number;
  readonly height: number;
  /** How many lines the newest is below the last row; 0 follows what comes. */
  readonly scrolled: number;
  readonly look: Look;
  readonly names: NameContext;
  readonly kept: EntryLines;
}

/** The part of a scrollback that a full screen shows. Only as much of it is rendered as stands below its first row. */
export function transcriptView(
  entries: readonly Entry[],
  { width, height, scrolled, look, names, kept }: TranscriptLook,
): { readonly lines: readonly string[]; readonly scrolled: number } {
  const wanted = Math.max(0, height) + Math.max(0, scrolled);
  const parts: (readonly string[])[] = [];
  let count = 0;
  for (let index = entries.length - 1; index >= 0 && count < wanted; index -= 1) {
    const lines = kept.lines(entries[index] as Entry, entries[index - 1] ?? null, width, look, names);
    parts.push(lines);
    count += lines.length;
  }
  const all = parts.reverse().flat();
  // At the top it scrolls no further.
  const down = Math.max(0, Math.min(scrolled, all.length - height));
  const end = all.length - down;
  return { lines: all.slice(Math.max(0, end - height), end), scrolled: down };
}
