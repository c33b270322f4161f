import { stripVTControlCharacters } from 'node:util';
import { visibleWidth } from '@earendil-works/pi-tui';

/**
 * What a terminal does with lines that a narrower window does not hold: breaks all of them anew, all but the one with the cursor, or
 * cuts them.
 */
export type Reflow = 'all' | 'not-cursor-line' | 'none';

/**
 * From the environment, until the terminal says its own name. Who is unknown counts as one that leaves the cursor's line alone: at worst
 * a row of the old block stays behind, never is a printed line lost.
 */
export function reflowOf(env: NodeJS.ProcessEnv): Reflow {
  if (env.TMUX) return 'all';
  if (env.STY || env.XTERM_VERSION || /^(?:linux|st|screen|rxvt)\b/.test(env.TERM ?? '')) return 'none';
  if (env.TERM_PROGRAM === 'vscode') return 'not-cursor-line';
  if (env.KITTY_WINDOW_ID || env.VTE_VERSION || env.WT_SESSION || env.ALACRITTY_WINDOW_ID) return 'all';
  if (/^(?:iTerm\.app|WezTerm|ghostty|Apple_Terminal)$/.test(env.TERM_PROGRAM ?? '')) return 'all';
  return 'not-cursor-line';
}

/** From the name with which a terminal answers XTVERSION; null when the name says nothing. */
export function reflowOfName(name: string): Reflow | null {
  if (/^xterm\.js/i.test(name)) return 'not-cursor-line';
  if (/^xterm/i.test(name)) return 'none';
  if (/^(?:tmux|kitty|wezterm|iterm2|ghostty|foot|vte|alacritty|konsole|mintty|contour)/i.test(name))
    return 'all';
  return null;
}

const graphemes = new Intl.Segmenter();

/** How many rows a line of the block occupies once a narrower window has broken it. */
export function rowsOf(line: string, columns: number): number {
  if (visibleWidth(line) <= columns || disputed(line)) return 1;
  let rows = 1;
  let column = 0;
  // A wide character that does not fit goes to the next row whole.
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

/** Joined emoji, flags and skin tones: terminals do not agree how wide they are. */
export function disputed(line: string): boolean {
  return /[\u200d\ufe0f\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}]/u.test(line);
}
