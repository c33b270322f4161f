import type { Frame } from '../../../src/tui/terminal/screen.ts';

/** What a test asks the program that owns the terminal to do. */
export type ScreenCommand =
  | readonly ['print', readonly string[]]
  | readonly ['printMany', number]
  | readonly ['draw', Frame]
  /** A block as wide as the screen, drawn anew whenever the size changes. */
  | readonly ['bottom', readonly string[]]
  | readonly ['full', boolean]
  | readonly ['attention', string]
  | readonly ['inputs', null]
  | readonly ['resizes', null]
  | readonly ['throw', null];
