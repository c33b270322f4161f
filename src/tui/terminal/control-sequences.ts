import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui';
import { hasDisputedWidth } from './reflow.ts';

const SYNC_ON = '\x1b[?2026h';
const SYNC_OFF = '\x1b[?2026l';

/** Wraps output so that terminals with synchronized output show it at once. */
export function synchronized(text: string): string {
  return text === '' ? '' : `${SYNC_ON}${text}${SYNC_OFF}`;
}

export const PASTE_ON = '\x1b[200~';
export const PASTE_OFF = '\x1b[201~';

/** Encodes a text as terminals send a paste. */
export function bracketedPaste(text: string): string {
  return `${PASTE_ON}${text}${PASTE_OFF}`;
}

export function pastedText(data: string): string | null {
  if (!data.startsWith(PASTE_ON) || !data.endsWith(PASTE_OFF)) return null;
  return data.slice(PASTE_ON.length, -PASTE_OFF.length);
}

/** Encodes a text for the clipboard of the terminal (OSC 52). */
export function clipboardText(text: string): string {
  return `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
}

/** Has the terminal keep the title of its window, or take back the one that it kept. */
export const TITLE_KEPT = '\x1b[22;2t';
export const TITLE_BACK = '\x1b[23;2t';

export function titleText(title: string): string {
  return `\x1b]2;${title}\x07`;
}

export const CURSOR_SHOWN = '\x1b[?25h';
export const CURSOR_HIDDEN = '\x1b[?25l';
export const ERASE_TO_SCREEN_END = '\x1b[J';
export const ERASE_TO_LINE_END = '\x1b[K';

/**
 * Erases from the start of a row to the end of the screen, in two steps: tmux takes an erase from the very first cell for clearing
 * the screen, and would keep a copy in its history.
 */
export const ERASE_BELOW = `${ERASE_TO_LINE_END}\x1b[C${ERASE_TO_SCREEN_END}\r`;

export function upOrDown(rows: number): string {
  if (rows === 0) return '';
  return rows < 0 ? `\x1b[${-rows}A` : `\x1b[${rows}B`;
}

/** The output for a line: never wider than the terminal, colours reset at its end. */
export function lineText(line: string, columns: number): string {
  const fitted = visibleWidth(line) > columns ? truncateToWidth(line, columns, '') : line;
  const closed = fitted.includes('\x1b') ? `${fitted}\x1b[0m` : fitted;
  // Terminals disagree about the width of this line: it must not wrap.
  return hasDisputedWidth(fitted) ? `\x1b[?7l${closed}\x1b[?7h` : closed;
}
