import {
  CURSOR_HIDDEN,
  CURSOR_SHOWN,
  ERASE_BELOW,
  ERASE_TO_LINE_END,
  lineText,
  upOrDown,
} from './control-sequences.ts';
import { hasDisputedWidth, rowsOf, type TerminalSize } from './reflow.ts';
import type { Frame, Growing } from './screen.ts';

/**
 * Paints inline: printed lines that go into the scrollback, and a live block below them. The position of the block is known only
 * relative to the cursor, which stays in it; all movements are relative, so that the block may scroll.
 */
export class InlinePainter {
  #lines: readonly string[] = [];
  #cursor: Frame['cursor'] = null;
  #growing: Growing | null = null;
  /** The cursor's row in the block. */
  #row = 0;
  #shown = true;
  #resized = false;
  /** Height of the screen when the block was drawn. */
  #rows = 0;
  readonly #below = new RowsBelow();
  /** Number of empty rows below the block when the window was resized; 0 after several changes, as rewrapped lines may have taken them. */
  #empty = 0;
  /** Lowest height of the window since then. */
  #lowest = 0;

  /** Records a resize of the window: the next output must locate the block and draw it whole. */
  resized({ rows }: Pick<TerminalSize, 'rows'>): void {
    this.#empty = this.#resized ? 0 : this.#below.rows;
    this.#lowest = this.#resized ? Math.min(this.#lowest, rows) : rows;
    this.#resized = true;
    this.#below.forget();
  }

  /** Returns the query for the cursor's position, if its answer helps to locate the block after a resize; otherwise an empty text. */
  askPlace({ rows, reflow }: TerminalSize): string {
    if (reflow !== 'xterm.js' || this.#resized) return '';
    return this.#below.ask(rows - (this.#lines.length - this.#row));
  }

  /** After a resize: gives the growing lines of a block that does not fit any more to the scrollback; returns their text. */
  leave({ columns, rows, reflow }: TerminalSize): string | undefined {
    const high = sum(this.#lines.map((one) => rowsOf(one, columns)));
    if (!this.#resized || this.#growing === null || high <= rows) return undefined;
    // What the terminal has cut off must be printed.
    if (reflow === 'none' && high > this.#lines.length) return undefined;
    const { rows: left, text } = this.#growing;
    this.#lines = this.#lines.slice(left);
    this.#row -= left;
    this.#growing = null;
    return text;
  }

  /** Takes the terminal's answer: the row of the screen, from 0, in which the cursor was. */
  placed(row: number): void {
    this.#below.answered(row);
  }

  /** Prints lines above the block; `frame` replaces the block. */
  print(lines: readonly string[], size: TerminalSize, frame?: Frame): string {
    if (lines.length === 0) return '';
    const { lines: block, cursor } =
      frame === undefined ? { lines: this.#lines, cursor: this.#cursor } : this.#onScreen(frame, size);
    const printed = lines.map((line) => `${line.includes('\x1b') ? `${line}\x1b[0m` : line}\r\n`).join('');
    const out = `${this.#hide()}${this.#toTop(size)}${ERASE_BELOW}${printed}`;
    this.#below.take(sum(lines.map((line) => (hasDisputedWidth(line) ? 2 : rowsOf(line, size.columns)))));
    return `${out}${this.#fresh(block, size)}${this.#placeCursor(cursor, size)}`;
  }

  draw(frame: Frame, size: TerminalSize): string {
    const { lines, cursor } = this.#onScreen(frame, size);
    if (this.#resized) {
      const out = `${this.#hide()}${this.#toTop(size)}${ERASE_BELOW}`;
      return `${out}${this.#fresh(lines, size)}${this.#placeCursor(cursor, size)}`;
    }
    const same = lines.length === this.#lines.length && lines.every((line, row) => line === this.#lines[row]);
    const { row, column } = this.#cursor ?? {};
    if (same) return cursor?.row === row && cursor?.column === column ? '' : this.#placeCursor(cursor, size);
    return `${this.#hide()}${this.#differences(lines, size)}${this.#placeCursor(cursor, size)}`;
  }

  /** Erases the block; the next one starts in its place. */
  erase(size: TerminalSize): string {
    const out = `${this.#toTop(size)}${this.#lines.length > 0 ? ERASE_BELOW : ''}`;
    this.#forget();
    return out;
  }

  /** Something else has used the terminal: the next block starts at the cursor. */
  startHere(): void {
    this.#forget();
    this.#below.forget();
    this.#shown = true;
  }

  #forget(): void {
    this.#replaced([]);
    this.#growing = null;
    this.#cursor = null;
    this.#row = 0;
  }

  #replaced(lines: readonly string[]): void {
    if (this.#resized) this.#below.forget();
    else this.#below.take(lines.length - this.#lines.length);
    this.#resized = false;
    this.#lines = lines;
  }

  /** The part of a frame that fits the screen: its lower end, where the input is. */
  #onScreen(frame: Frame, { rows }: TerminalSize): Frame {
    const cut = Math.max(0, frame.lines.length - rows);
    const { cursor } = frame;
    this.#growing = cut === 0 ? (frame.growing ?? null) : null;
    if (cut === 0) return frame;
    const kept = cursor === null || cursor.row < cut ? null : { ...cursor, row: cursor.row - cut };
    return { lines: frame.lines.slice(cut), cursor: kept };
  }

  #hide(): string {
    if (!this.#shown) return '';
    this.#shown = false;
    return CURSOR_HIDDEN;
  }

  /** Moves from the cursor to the first row of the block, which the terminal may have rewrapped. */
  #toTop(size: TerminalSize): string {
    return `\r${upOrDown(-(this.#resized ? this.#rowsAbove(size) : this.#row))}`;
  }

  /** Number of rows from the start of the block to the cursor, after a resize. */
  #rowsAbove({ columns, reflow }: TerminalSize): number {
    if (reflow === 'none') return this.#row;
    const above = sum(this.#lines.slice(0, this.#row).map((line) => rowsOf(line, columns)));
    if (reflow === 'all') return above + Math.floor((this.#cursor?.column ?? 0) / columns);
    // A window that gets lower drops rows between its end and the cursor, empty ones first, before it rewraps the others.
    const kept = Math.max(0, this.#lines.length - Math.max(0, this.#rows - this.#lowest - this.#empty));
    return above + sum(this.#lines.slice(this.#row + 1, kept).map((line) => rowsOf(line, columns) - 1));
  }

  /** Draws the whole block on a screen that is empty from the cursor on. */
  #fresh(lines: readonly string[], { columns, rows }: TerminalSize): string {
    this.#rows = rows;
    this.#replaced(lines);
    this.#row = Math.max(0, lines.length - 1);
    return lines.map((line) => lineText(line, columns)).join('\r\n');
  }

  #differences(lines: readonly string[], { columns, rows }: TerminalSize): string {
    this.#rows = rows;
    const before = this.#lines;
    let out = '';
    let row = this.#row;
    const to = (next: number): string => {
      const move = upOrDown(next - row);
      row = next;
      return `${move}\r`;
    };
    for (const [index, line] of lines.entries()) {
      if (index < before.length && line === before[index]) continue;
      // At the bottom of the screen, only a line break makes a new row.
      if (index >= before.length && index > 0) {
        out += `${to(index - 1)}\n`;
        row = index;
      } else out += `${to(index)}${ERASE_TO_LINE_END}`;
      out += lineText(line, columns);
    }
    if (lines.length < before.length) out += `${to(lines.length)}${ERASE_BELOW}`;
    this.#replaced(lines);
    this.#row = row;
    return out;
  }

  #placeCursor(cursor: Frame['cursor'], { columns }: TerminalSize): string {
    const row = cursor?.row ?? Math.max(0, this.#lines.length - 1);
    const column = Math.min(cursor?.column ?? 0, columns - 1);
    const move = `${upOrDown(row - this.#row)}\r${column > 0 ? `\x1b[${column}C` : ''}`;
    this.#row = row;
    this.#cursor = cursor;
    if (cursor === null || this.#shown) return `${this.#shown && cursor === null ? this.#hide() : ''}${move}`;
    this.#shown = true;
    return `${move}${CURSOR_SHOWN}`;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Query for the cursor's position in the form with `?`, whose answer is unlike any key: modified F3 keys are sent as `CSI 1 ; 2 R`. */
const CURSOR_QUERY = '\x1b[?6n';

/**
 * Counts the empty rows of the screen below the block. Only the terminal knows how many there were at first: it is asked, and nothing
 * waits for its answer. Until it arrives, only rows that the block itself has given up are counted.
 */
class RowsBelow {
  #least = 0;
  /** Empty rows at the time of the query, according to its answer; null until it arrives. */
  #told: number | null = null;
  /** Rows that were taken since the query. */
  #taken = 0;
  #unanswered = 0;
  /** The argument `free` of the last query; null: its answer would be stale. */
  #expected: number | null = null;

  get rows(): number {
    return Math.max(this.#least, (this.#told ?? 0) - this.#taken);
  }

  /** Records that the block and the lines printed above it take more rows, or, if negative, fewer. */
  take(rows: number): void {
    this.#taken += rows;
    this.#least = Math.max(0, this.#least - rows);
  }

  /** Forgets all counts: the place of the block is unknown, and answers to earlier queries are stale. */
  forget(): void {
    this.#least = 0;
    this.#told = null;
    this.#expected = null;
  }

  /** Returns the query for the terminal. `free`: rows of the screen minus those of the block that are at the cursor or below it. */
  ask(free: number): string {
    this.#least = this.rows;
    this.#told = null;
    this.#taken = 0;
    this.#unanswered += 1;
    this.#expected = free;
    return CURSOR_QUERY;
  }

  /** Takes an answer: the row of the screen, from 0, in which the cursor was. Of several queries, only the last answer counts. */
  answered(row: number): void {
    this.#unanswered = Math.max(0, this.#unanswered - 1);
    if (this.#unanswered === 0 && this.#expected !== null) this.#told = this.#expected - row;
  }
}
