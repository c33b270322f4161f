import { stripVTControlCharacters } from 'node:util';
import { matchesKey } from '@earendil-works/pi-tui';
import { clean } from '../../render/clean.ts';
import { columnsOf, fit, type UiStyle } from '../../render/style.ts';
import { printable, typedText } from '../keys/action-of.ts';
import type { Entry } from '../state/entry.ts';
import type { Frame } from '../terminal/screen.ts';
import { line, separator } from './line.ts';

/** A place where the words stand: the number of the entry, which of its hits, and how many lines of the scrollback are below it. */
interface Hit {
  readonly entry: number;
  readonly nth: number;
  readonly below: number;
}

/** What a key did to a search: `back`: the view is as it was before; `words`: the search is over, and the key is text. */
export type FindKey = 'taken' | 'passed' | 'over' | 'back' | 'words';

/** A search in the scrollback in view, from its end upwards, round and round. Words without a capital letter are found in both cases. */
export class FindText {
  words: string;
  /** Whether the whole scrollback was in view before. */
  readonly browsed: boolean;
  /** Whether letters are added to the words; otherwise they are keys (`n`, `N`). */
  typing: boolean;
  #hits: readonly Hit[] = [];
  #current: Hit | null = null;
  /** Number of hits by which to move once they are known, and whether to show the current one. */
  #steps = 0;
  #shows = true;
  #whole = false;
  #texts = new WeakMap<readonly string[], Joined>();

  constructor(words: string, browsed: boolean) {
    this.words = words;
    this.browsed = browsed;
    this.typing = words === '';
  }

  key(data: string): FindKey {
    if (matchesKey(data, 'escape') || matchesKey(data, 'ctrl+c')) return this.typing ? 'back' : 'over';
    if (matchesKey(data, 'up') || matchesKey(data, 'ctrl+f')) return this.#move(1);
    if (matchesKey(data, 'down')) return this.#move(-1);
    if (matchesKey(data, 'enter')) {
      if (this.words === '') return 'back';
      if (!this.typing) return this.#move(1);
      this.typing = false;
      return 'taken';
    }
    if (this.typing) {
      const typed = typedText(data);
      if (typed === null && !matchesKey(data, 'backspace')) return 'passed';
      this.words = typed === null ? [...this.words].slice(0, -1).join('') : this.words + typed;
      this.#current = null;
      this.#shows = true;
      return 'taken';
    }
    const letter = printable(data);
    if (letter === 'n') return this.#move(1);
    if (letter === 'N') return this.#move(-1);
    if (letter === '/') {
      this.words = '';
      this.typing = true;
      return 'taken';
    }
    return letter === null ? 'passed' : 'words';
  }

  #move(steps: number): FindKey {
    this.#steps += steps;
    return 'taken';
  }

  /**
   * Looks for the words in the entries, newest first. Returns the hit that is to be shown, as the number of lines below it; null: the view stays where it is.
   * `linesOf`: the lines of an entry. `whole` is false if the frame's time budget ran out, so that the next frame goes on.
   */
  look(
    entries: readonly Entry[],
    linesOf: (entry: Entry, before: Entry | null) => readonly string[] | null,
  ): { readonly below: number | null; readonly whole: boolean } {
    const pattern = patternOf(this.words);
    const hits: Hit[] = [];
    let below = 0;
    this.#whole = true;
    for (let entry = entries.length - 1; entry >= 0 && pattern !== null; entry -= 1) {
      const lines = linesOf(entries[entry] as Entry, entries[entry - 1] ?? null);
      if (lines === null) {
        this.#whole = false;
        break;
      }
      const text = this.#texts.get(lines) ?? joined(lines);
      this.#texts.set(lines, text);
      const found = text.text.matchAll(pattern);
      // The row on which each hit begins.
      const rows = [...found]
        .map(({ index }) => text.rows.findLastIndex(({ start }) => start <= index))
        .reverse();
      for (const [nth, row] of rows.entries())
        hits.push({ entry, nth, below: below + lines.length - 1 - row });
      below += lines.length;
    }
    this.#hits = hits;
    return { below: this.#shown(), whole: this.#whole };
  }

  #shown(): number | null {
    const now = this.#current;
    const place =
      now === null ? -1 : this.#hits.findIndex(({ entry, nth }) => entry === now.entry && nth === now.nth);
    const { length } = this.#hits;
    // To go on over the upper end, all hits must be known.
    const to = Math.max(0, place) + this.#steps;
    if (length === 0 || (!this.#whole && (to < 0 || to >= length))) return null;
    const moves = this.#steps !== 0 || this.#shows;
    this.#current = this.#hits[((to % length) + length) % length] ?? null;
    this.#steps = 0;
    this.#shows = false;
    return moves ? (this.#current?.below ?? null) : null;
  }

  /** The visible lines with the hits marked; `above`: number of lines of the scrollback, or below it, that are below the last one. */
  marked(lines: readonly string[], below: number): readonly string[] {
    const pattern = patternOf(this.words);
    if (pattern === null) return lines;
    const text = joined(lines);
    const at = this.#current === null ? -1 : lines.length - 1 - (this.#current.below - below);
    const marks = new Map<number, (readonly [number, number])[]>();
    for (const { index, 0: found } of text.text.matchAll(pattern))
      for (const [row, { start, lead, length }] of text.rows.entries()) {
        const from = Math.max(index, start);
        const to = Math.min(index + found.length, start + length);
        if (from < to) marks.set(row, [...(marks.get(row) ?? []), [from - start + lead, to - start + lead]]);
      }
    return lines.map((one, row) => withMarks(one, marks.get(row) ?? [], row === at ? 7 : 4));
  }

  /** The line in place of the input. */
  input(width: number, style: UiStyle): Frame {
    const { length } = this.#hits;
    const now = this.#current;
    const place = this.#hits.findIndex((one) => one.entry === now?.entry && one.nth === now.nth) + 1;
    const many = `${place} of ${length}${this.#whole ? '' : '+'}`;
    const count = this.words === '' ? '' : length > 0 ? many : this.#whole ? 'not found' : 'searching';
    const asked = `/ ${fit(clean(this.words), Math.max(1, width - count.length - 5), style)}`;
    const cursor = this.typing ? { row: 0, column: columnsOf(asked) } : null;
    return { lines: [line(style, width, [asked, ['dim', `   ${count}`]])], cursor };
  }

  hint(width: number, style: UiStyle): string {
    const keys = this.typing
      ? ['Enter keeps it', 'Up older', 'Down newer', 'Esc back']
      : ['n older', 'N newer', '/ other words', 'Esc ends'];
    return line(style, width, [['dim', ` ${keys.join(separator(style))}`]]);
  }
}

function patternOf(words: string): RegExp | null {
  const parts = words
    .trim()
    .split(/\s+/)
    .map((word) => RegExp.escape(word));
  if (words.trim() === '') return null;
  return new RegExp(parts.join('\\s+'), /\p{Lu}/u.test(words) ? 'gu' : 'giu');
}

/** Lines as one text, so that words are found that are wrapped, and where each of them stands in it. */
interface Joined {
  readonly text: string;
  readonly rows: readonly { readonly start: number; readonly lead: number; readonly length: number }[];
}

function joined(lines: readonly string[]): Joined {
  let text = '';
  const rows = lines.map((one) => {
    const plain = stripVTControlCharacters(one);
    const bare = plain.trim();
    const row = { start: text.length, lead: plain.length - plain.trimStart().length, length: bare.length };
    text += `${bare} `;
    return row;
  });
  return { text, rows };
}

const ESCAPES = /\p{Cc}\[[0-?]*[ -/]*[@-~]|\p{Cc}\][^\p{Cc}]*\p{Cc}\\?/gu;

/** Inverts or underlines ranges of what is visible of a line. */
function withMarks(text: string, marks: readonly (readonly [number, number])[], code: 4 | 7): string {
  if (marks.length === 0) return text;
  const [on, off] = [`\x1b[${code}m`, `\x1b[2${code}m`];
  let out = '';
  let column = 0;
  let is_on = false;
  const put = (piece: string): void => {
    for (const unit of piece.split('')) {
      if (!is_on && marks.some(([from]) => column === from)) {
        out += on;
        is_on = true;
      }
      out += unit;
      column += 1;
      if (is_on && marks.some(([, to]) => column === to)) {
        out += off;
        is_on = false;
      }
    }
  };
  let end = 0;
  for (const found of text.matchAll(ESCAPES)) {
    put(text.slice(end, found.index));
    // The escape may end what was begun.
    out += `${found[0]}${is_on ? on : ''}`;
    end = found.index + found[0].length;
  }
  put(text.slice(end));
  return out;
}
