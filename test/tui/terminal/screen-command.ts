import type { Frame } from '../../../src/tui/terminal/screen.ts';

/** A command from a test to the program that owns the terminal. */
export type ScreenCommand =
  | readonly ['print', readonly string[]]
  | readonly ['printMany', number]
  /** Printed once the window has another size, before the program can have heard of it. */
  | readonly ['printLate', readonly string[]]
  | readonly ['draw', Frame]
  /** A block as wide as the screen, redrawn on every resize. */
  | readonly ['bottom', readonly string[]]
  /** Lines above that block of a text that only grows. */
  | readonly ['growing', readonly string[]]
  | readonly ['full', boolean]
  | readonly ['attention', string]
  | readonly ['title', string]
  | readonly ['inputs', null]
  | readonly ['resizes', null]
  | readonly ['throw', null];
