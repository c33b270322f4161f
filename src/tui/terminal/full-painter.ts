import {
  CURSOR_HIDDEN,
  CURSOR_SHOWN,
  ERASE_TO_LINE_END,
  ERASE_TO_SCREEN_END,
  lineText,
} from './control-sequences.ts';
import type { TerminalSize } from './reflow.ts';
import type { Frame } from './screen.ts';

/** Paints the alternate screen: returns the output for the lines that changed. */
export class FullPainter {
  /** Lines on the screen; null: its content is unknown. */
  #lines: readonly string[] | null = null;
  #cursor: Frame['cursor'] = null;

  /** Marks the content of the screen as unknown: it was entered, or resized. */
  forget(): void {
    this.#lines = null;
  }

  draw(frame: Frame, { columns, rows }: TerminalSize): string {
    const lines = frame.lines.slice(0, rows);
    const cursor = frame.cursor !== null && frame.cursor.row < lines.length ? frame.cursor : null;
    const before = this.#lines;
    let out = before === null ? `\x1b[H${ERASE_TO_SCREEN_END}` : '';
    for (const [row, line] of lines.entries()) {
      if (before !== null && line === (before[row] ?? '')) continue;
      out += `\x1b[${row + 1};1H${before === null ? '' : ERASE_TO_LINE_END}${lineText(line, columns)}`;
    }
    if (before !== null && lines.length < before.length)
      out += `\x1b[${lines.length + 1};1H${ERASE_TO_SCREEN_END}`;
    const still = cursor?.row === this.#cursor?.row && cursor?.column === this.#cursor?.column;
    this.#lines = lines;
    this.#cursor = cursor;
    if (out === '' && still) return '';
    if (cursor === null) return `${CURSOR_HIDDEN}${out}`;
    const column = Math.min(cursor.column, columns - 1) + 1;
    return `${CURSOR_HIDDEN}${out}\x1b[${cursor.row + 1};${column}H${CURSOR_SHOWN}`;
  }
}
