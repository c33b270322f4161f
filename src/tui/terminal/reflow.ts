import { stripVTControlCharacters } from 'node:util';
import { visibleWidth } from '@earendil-works/pi-tui';

/**
 * How a terminal treats the lines on its screen, and the cursor, when its window gets narrower. `all`: rewraps every line, the
 * cursor keeps its place in the text. `xterm.js`: does not rewrap the cursor's line, and moves the cursor down even by rows that appear
 * below it. `none`: truncates; the default, since at worst a row of the old block stays behind and no printed line is lost.
 */
export type Reflow = 'all' | 'xterm.js' | 'none';

/** Properties of the terminal that a painter needs. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
  readonly reflow: Reflow;
}

/** Determines the reflow from the environment, until the terminal reports its name. */
export function reflowOf(env: NodeJS.ProcessEnv): Reflow {
  if (env.TMUX) return 'all';
  if (env.STY || env.XTERM_VERSION || /^(?:linux|st|screen|rxvt)\b/.test(env.TERM ?? '')) return 'none';
  if (env.TERM_PROGRAM === 'vscode') return 'xterm.js';
  if (env.KITTY_WINDOW_ID || env.VTE_VERSION || env.WT_SESSION || env.ALACRITTY_WINDOW_ID) return 'all';
  if (/^(?:iTerm\.app|WezTerm|ghostty|Apple_Terminal)$/.test(env.TERM_PROGRAM ?? '')) return 'all';
  return 'none';
}

/** Determines the reflow from the name that a terminal reports (XTVERSION); null for an unknown one. */
export function reflowOfName(name: string): Reflow | null {
  if (/^xterm\.js/i.test(name)) return 'xterm.js';
  if (/^xterm/i.test(name)) return 'none';
  const breaks = /^(?:tmux|kitty|wezterm|iterm2|ghostty|foot|vte|alacritty|konsole|mintty|contour)/i;
  return breaks.test(name) ? 'all' : null;
}

const graphemes = new Intl.Segmenter();

/** Number of rows that a line of the block takes when the terminal has rewrapped it. */
export function rowsOf(line: string, columns: number): number {
  if (visibleWidth(line) <= columns || hasDisputedWidth(line)) return 1;
  let rows = 1;
  let column = 0;
  // A wide character that does not fit goes to the next row.
  for (const { segment } of graphemes.segment(stripVTControlCharacters(line))) {
    const width = visibleWidth(segment);
    if (column + width > columns) {
      rows += 1;
      column = 0;
    }
    column += width;
  }
  return rows;
}

/** Whether a line contains joined emoji, flags or skin tones: terminals disagree about their width. */
export function hasDisputedWidth(line: string): boolean {
  return /[\u200d\ufe0f\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}]/u.test(line);
}
