import type { UiStyle } from '../../../render/style.ts';
import type { Entry } from '../../state/entry.ts';
import type { FrameBudget } from '../../text/frame-budget.ts';
import type { AgentNames } from './agent-names.ts';
import { entryBelow } from './entry-view.ts';

interface Kept {
  readonly before: Entry | null;
  readonly lines: string[];
  /** The batches that are not rendered yet. */
  readonly rest: Iterator<readonly string[]>;
  whole: boolean;
}

/** Caches rendered entries: an unchanged entry is rendered once per width and style. */
export class EntryLines {
  #kept = new WeakMap<Entry, Kept>();
  #key: readonly unknown[] = [];

  /** Returns the lines of an entry; null if the frame's time budget ran out, so that the next frame continues. */
  lines(
    entry: Entry,
    before: Entry | null,
    { width, style, names, spend }: Pick<TranscriptOptions, 'width' | 'style' | 'names' | 'spend'>,
  ): readonly string[] | null {
    const key = [width, style, style.theme];
    if (key.some((part, index) => part !== this.#key[index])) [this.#kept, this.#key] = [new WeakMap(), key];
    let kept = this.#kept.get(entry);
    if (kept === undefined || kept.before !== before) {
      const rest = entryBelow(entry, before, width, style, names)[Symbol.iterator]();
      kept = { before, lines: [], rest, whole: false };
      this.#kept.set(entry, kept);
    }
    while (!kept.whole) {
      const batch = kept.rest.next();
      if (batch.done === true) kept.whole = true;
      else {
        for (const line of batch.value) kept.lines.push(line);
        if (spend(batch.value.length)) return null;
      }
    }
    return kept.lines;
  }
}

export interface TranscriptOptions {
  readonly width: number;
  readonly height: number;
  /** Lines scrolled up from the end; 0 follows new entries. */
  readonly scrolled: number;
  readonly style: UiStyle;
  readonly names: AgentNames;
  readonly kept: EntryLines;
  readonly spend: FrameBudget;
  /** Lines below the last entry. */
  readonly tail?: readonly string[];
}

/**
 * The part of a scrollback that a full screen shows. Nothing above its first row is rendered. `whole` is false if the frame's time budget
 * ran out, so that the next frame shows more.
 */
export function transcriptView(
  entries: readonly Entry[],
  settings: TranscriptOptions,
): { readonly lines: readonly string[]; readonly scrolled: number; readonly whole: boolean } {
  const { height, scrolled, kept, tail = [] } = settings;
  const wanted = Math.max(0, height) + Math.max(0, scrolled);
  const parts: (readonly string[])[] = [tail];
  let count = tail.length;
  let whole = true;
  for (let index = entries.length - 1; index >= 0 && count < wanted; index -= 1) {
    const lines = kept.lines(entries[index] as Entry, entries[index - 1] ?? null, settings);
    if (lines === null) {
      whole = false;
      break;
    }
    parts.push(lines);
    count += lines.length;
  }
  const all = parts.reverse().flat();
  // Scrolling ends at the top.
  const down = Math.max(0, Math.min(scrolled, all.length - height));
  const end = all.length - down;
  return { lines: all.slice(Math.max(0, end - height), end), scrolled: whole ? down : scrolled, whole };
}
