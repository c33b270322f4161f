/** What stands at the bottom of the terminal, or fills it. Lines carry their own colours, never a line break, and fit the width. */
export interface Frame {
  readonly lines: readonly string[];
  /** Where the real cursor stands (row of `lines`, column in cells); null: hidden. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
}
