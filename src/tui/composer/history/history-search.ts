import { clean } from '../../../render/clean.ts';
import { columnsOf, fit } from '../../../render/style.ts';
import type { Frame } from '../../terminal/screen.ts';

/** Incremental search of the texts sent before, newest first. A query without capital letters ignores case. */
export class HistorySearch {
  readonly #entries: readonly string[];
  #query = '';
  /** Index of the match; the number of entries if there is no match yet. */
  #at: number;
  #failed = false;

  /** `entries`: oldest first. */
  constructor(entries: readonly string[]) {
    this.#entries = entries;
    this.#at = entries.length;
  }

  get query(): string {
    return this.#query;
  }

  /** Whether the last step found no (further) match; the previous match stays. */
  get failed(): boolean {
    return this.#failed;
  }

  get match(): string | null {
    return this.#entries[this.#at] ?? null;
  }

  /** Appends to the query; the current match stays if it still matches. */
  type(text: string): void {
    this.#query += text;
    this.#find(Math.min(this.#at, this.#entries.length - 1));
  }

  /** Removes the last character of the query and searches again from the newest entry; an empty query has no match. */
  erase(): void {
    this.#query = [...this.#query].slice(0, -1).join('');
    this.#find(this.#query === '' ? -1 : this.#entries.length - 1);
    if (this.#query !== '') return;
    this.#at = this.#entries.length;
    this.#failed = false;
  }

  older(): void {
    this.#find(this.#at - 1);
  }

  /** Finds the newest match at index `from` or below, skipping duplicates of the current match. */
  #find(from: number): void {
    const { match } = this;
    const wanted = this.#query;
    const exact = wanted !== wanted.toLowerCase();
    for (let at = from; at >= 0; at -= 1) {
      const entry = this.#entries[at] as string;
      if (!(exact ? entry : entry.toLowerCase()).includes(wanted)) continue;
      if (entry === match && at !== this.#at) continue;
      this.#at = at;
      this.#failed = false;
      return;
    }
    this.#failed = true;
  }
}

/** Draws the query with the match below it, in place of the draft. */
export function searchFrame(
  { query, match, failed }: HistorySearch,
  width: number,
  max_rows: number,
  { unicode, dim }: { readonly unicode: boolean; readonly dim: (text: string) => string },
): Frame {
  const look = { colour: false, unicode };
  const asked = fit(`${failed ? 'no older match' : 'search'}: ${clean(query)}`, width - 1, look);
  const rows = match === null ? [] : match.split('\n').slice(0, Math.max(0, max_rows - 2));
  const lines = rows.map((row, index) => fit(`${index === 0 ? '> ' : '  '}${clean(row)}`, width, look));
  const dot = unicode ? '·' : '|';
  const keys = ['Enter sends', 'Esc edits', 'again: older', 'Ctrl-C back'].join(` ${dot} `);
  return {
    lines: [asked, ...lines, dim(fit(`  ${keys}`, width, look))].slice(0, Math.max(1, max_rows)),
    cursor: { row: 0, column: columnsOf(asked) },
  };
}
