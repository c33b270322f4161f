import { clean } from '../../../render/clean.ts';
import { columnsOf, fit } from '../../../render/style.ts';
import type { Frame } from '../../terminal/screen.ts';

/** Searches what was sent before, newest first, while the query is typed. Without a capital letter, the query matches both. */
export class HistorySearch {
  readonly #entries: readonly string[];
  #query = '';
  /** Index of the match; one behind the newest: none is chosen yet. */
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

  /** Nothing (more) matches; the match before it stays. */
  get failed(): boolean {
    return this.#failed;
  }

  get match(): string | null {
    return this.#entries[this.#at] ?? null;
  }

  /** The match stays if it still matches. */
  type(text: string): void {
    this.#query += text;
    this.#find(Math.min(this.#at, this.#entries.length - 1));
  }

  /** A shorter query is searched for from the newest on. */
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

  /** The newest match at this place or before it that differs from the one in view. */
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

/** The query with the match below it, in place of the draft. */
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
