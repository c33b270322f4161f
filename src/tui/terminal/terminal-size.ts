import type { Reflow } from './reflow.ts';

/** What a painter must know of the terminal at the moment. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
  readonly reflow: Reflow;
}
