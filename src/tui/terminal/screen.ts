// The terminal itself: input, modes, signals, and painting frames, inline or on the alternate screen.
import type { Colour } from './background.ts';
import type { TerminalKind } from './terminal-kind.ts';

/** The content that is drawn at the bottom of the terminal, or fills it. Lines contain their colours, no line break, and fit the width. */
export interface Frame {
  readonly lines: readonly string[];
  /** Position of the cursor (row of `lines`, column in cells); null: hidden. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
  readonly growing?: Growing | null;
}

/** A text that only grows, which the first lines of a frame show. */
export interface Growing {
  readonly rows: number;
  readonly text: string;
}

/**
 * The terminal, as the app uses it. The contract:
 * - Inline (the default): `print` puts finished lines into the native scrollback, `draw` keeps a live block below them. Only lines that
 *   changed are written; the block never exceeds the screen; the scrollback is never cleared (no `CSI 3J`), nothing is redrawn whole.
 * - Full (`enterFull` … `leaveFull`): the alternate screen, filled by `draw`; leaving shows the inline part as it was left. What is
 *   printed meanwhile appears after leaving.
 * - Each call is one write, wrapped in synchronized output (`CSI ? 2026`). After a resize the block is drawn afresh; lines above it
 *   are never lost or duplicated. A block that no longer fits is partly in the scrollback by then: its growing lines stay there for good.
 * - `close` restores the terminal as it was, whatever happened before, and may be called from an exit handler.
 */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly full: boolean;
  /** Resolves when the terminal has answered the queries sent at the start (`onBackground`), or after a short timeout. */
  readonly answered: Promise<void>;
  print(lines: readonly string[]): void;
  /** `above` is printed in the same write, so that a block that shrinks leaves no empty rows behind. */
  draw(frame: Frame, above?: readonly string[]): void;
  enterFull(): void;
  leaveFull(): void;
  /** Calls the person, by the bell and a notification if the terminal has them; does nothing while the terminal has the focus. */
  attention(project: string, text: string): void;
  /** Sets the title of the terminal's window until it is given back. */
  title(text: string): void;
  /** Hands a text to the clipboard of the terminal (OSC 52), which may refuse it without a word; returns whether it is known to take such texts. */
  copy(text: string): TerminalKind['copies'];
  /** Ctrl-Z: restores the terminal, stops the process group, and takes the terminal again when continued. */
  suspend(): void;
  /** The terminal belongs to another program until `work` has ended; what is printed and drawn meanwhile appears afterwards. */
  lend(work: () => Promise<void>): Promise<void>;
  close(): void;
}

/** Columns to draw in: the last one stays free, where some terminals would wrap. */
export function drawingWidth({ columns }: Pick<Screen, 'columns'>): number {
  return Math.max(1, columns - 1);
}

export interface ScreenListener {
  /** One key or paste at a time, as the terminal sent it (bracketed pastes whole). */
  readonly onInput: (data: string) => void;
  /** `left`: the growing text that has been left in the scrollback. */
  readonly onResize: (left?: string) => void;
  /** The terminal is gone (SIGHUP), or the program is asked to end. */
  readonly onHangup: () => void;
  /** A library has written to standard error: on this terminal, it would stand in the middle of what is drawn. */
  readonly onStray?: (text: string) => void;
  /** The terminal has reported its background; many do so just after the start. */
  readonly onBackground?: (ground: Colour) => void;
}
