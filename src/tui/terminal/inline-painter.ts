import {
  CURSOR_HIDDEN,
  CURSOR_SHOWN,
  ERASE_BELOW,
  ERASE_TO_LINE_END,
  lineText,
  upOrDown,
} from './control-sequences.ts';
import { rowsOf, type TerminalSize } from './reflow.ts';
import type { Frame } from './screen.ts';

/**
 * The inline half of a screen as text to write: lines that scroll away as ever, and a live block below them. Knows where its block
 * stands only relative to the cursor, which rests in it; every movement is relative, so that whatever scrolls takes the block along.
 */
export class InlinePainter {
  #lines: readonly string[] = [];
  #cursor: Frame['cursor'] = null;
  /** The row of the block in which the cursor is. */
  #row = 0;
  #shown = true;
  #resized = false;
  /** Of the screen, when the block was drawn. */
  #rows = 0;

  /** The window has another size than when the block was drawn; the next painting finds its place and draws it whole. */
  resized(): void {
    this.#resized = true;
  }

  /** Below the lines stands the next frame, or the block as it was. */
  print(lines: readonly string[], size: TerminalSize, frame?: Frame): string {
    if (lines.length === 0) return '';
    const { lines: block, cursor } =
      frame === undefined ? { lines: this.#lines, cursor: this.#cursor } : onScreen(frame, size);
    const printed = lines.map((line) => `${line.includes('\x1b') ? `${line}\x1b[0m` : line}\r\n`).join('');
    const out = `${this.#hide()}${this.#toTop(size)}${ERASE_BELOW}${printed}`;
    return `${out}${this.#fresh(block, size)}${this.#placeCursor(cursor, size)}`;
  }

  draw(frame: Frame, size: TerminalSize): string {
    const { lines, cursor } = onScreen(frame, size);
    if (this.#resized) {
      const out = `${this.#hide()}${this.#toTop(size)}${ERASE_BELOW}`;
      return `${out}${this.#fresh(lines, size)}${this.#placeCursor(cursor, size)}`;
    }
    const same = lines.length === this.#lines.length && lines.every((line, row) => line === this.#lines[row]);
    if (same) return sameCursor(cursor, this.#cursor) ? '' : this.#placeCursor(cursor, size);
    return `${this.#hide()}${this.#differences(lines, size)}${this.#placeCursor(cursor, size)}`;
  }

  /** The block goes; the cursor stands where it began, and there it will begin again. */
  erase(size: TerminalSize): string {
    const out = `${this.#toTop(size)}${this.#lines.length > 0 ? ERASE_BELOW : ''}`;
    this.#forget();
    return out;
  }

  /** Somebody else has used the terminal meanwhile: the next block begins where the cursor is. */
  startHere(): void {
    this.#forget();
    this.#shown = true;
  }

  #forget(): void {
    this.#lines = [];
    this.#cursor = null;
    this.#row = 0;
    this.#resized = false;
  }

  #hide(): string {
    if (!this.#shown) return '';
    this.#shown = false;
    return CURSOR_HIDDEN;
  }

  /** From the cursor to the first row of the block, which may have been broken anew by the terminal. */
  #toTop(size: TerminalSize): string {
    return `\r${upOrDown(-(this.#resized ? this.#rowsAbove(size) : this.#row))}`;
  }

  /** How far above the cursor the block begins now that the window has another size. */
  #rowsAbove({ columns, rows, reflow }: TerminalSize): number {
    if (reflow === 'none') return this.#row;
    const above = sum(this.#lines.slice(0, this.#row).map((line) => rowsOf(line, columns)));
    if (reflow === 'all') return above + Math.floor((this.#cursor?.column ?? 0) / columns);
    // A lower window has thrown away rows below the cursor before the others were broken.
    const kept = this.#lines.length - Math.max(0, this.#rows - rows);
    return above + sum(this.#lines.slice(this.#row + 1, kept).map((line) => rowsOf(line, columns) - 1));
  }

  /** Everything at once, on ground that is empty from the cursor on. */
  #fresh(lines: readonly string[], { columns, rows }: TerminalSize): string {
    this.#rows = rows;
    this.#resized = false;
    this.#lines = lines;
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
      // A row that is not there yet comes from a line break: at the bottom of the screen nothing else makes one.
      if (index >= before.length && index > 0) {
        out += `${to(index - 1)}\n`;
        row = index;
      } else out += `${to(index)}${ERASE_TO_LINE_END}`;
      out += lineText(line, columns);
    }
    if (lines.length < before.length) out += `${to(lines.length)}${ERASE_BELOW}`;
    this.#lines = lines;
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

/** What of a frame the screen holds: its lower end, where the input is. */
function onScreen(frame: Frame, { rows }: TerminalSize): Frame {
  const cut = Math.max(0, frame.lines.length - rows);
  const { cursor } = frame;
  if (cut === 0) return frame;
  const kept = cursor === null || cursor.row < cut ? null : { ...cursor, row: cursor.row - cut };
  return { lines: frame.lines.slice(cut), cursor: kept };
}

function sameCursor(a: Frame['cursor'], b: Frame['cursor']): boolean {
  return a?.row === b?.row && a?.column === b?.column;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
