import { CURSOR_MARKER, Editor } from '@earendil-works/pi-tui';

/** Number of hidden rows of the text, above and below the visible ones. */
export interface HiddenRows {
  readonly above: number;
  readonly below: number;
}

export interface EditorLayOut {
  readonly rows: readonly string[];
  readonly hidden: HiddenRows;
  /** Rows of the completion list. */
  readonly list: readonly string[];
}

/** Share of the screen's rows that the library's editor takes. */
const SHARE = 0.3;

/** The library's editor, laid out as separate parts without borders. */
export class BorderlessEditor extends Editor {
  #above = 0;
  #below = 0;

  layOut(width: number, max_rows: number): EditorLayOut {
    // The library derives its rows from the height of the screen.
    Object.assign(this.tui.terminal, { rows: Math.ceil(max_rows / SHARE) });
    const lines = this.render(width);
    const end = lines.indexOf(BORDER, 1);
    const rows = lines.slice(1, end);
    const list = lines.slice(end + 1);
    const shown = Math.min(rows.length, max_rows);
    // The library shows at least five rows: only those around the caret are kept.
    const caret = Math.max(
      0,
      rows.findIndex((row) => row.includes(CURSOR_MARKER)),
    );
    const first = Math.min(Math.max(0, caret - shown + 1), rows.length - shown);
    return {
      rows: rows.slice(first, first + shown),
      hidden: { above: this.#above + first, below: this.#below + rows.length - first - shown },
      list,
    };
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    this.#above = hidden;
    return BORDER;
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    this.#below = hidden;
    return BORDER;
  }
}

/** Marks the borders in the library's output: no row of text contains a line break. */
const BORDER = '\n';
