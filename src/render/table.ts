import { columnsOf, fit, pad, type Style } from './style.ts';

export interface TableOptions {
  /** Columns of the terminal; infinite where there is none, and nothing is cut. */
  readonly width: number;
  /** Maximum columns of some columns, counted from 0. */
  readonly most?: Readonly<Record<number, number>>;
  /** Right-aligned columns, counted from 0; none by default. */
  readonly right?: ReadonlySet<number>;
  readonly style: Style;
}

/** A table: each column as wide as its widest cell, the last one takes the rest. */
export function tableLines(
  head: readonly string[],
  all: readonly (readonly string[])[],
  { width, right, style, most = {} }: TableOptions,
): string[] {
  const rows = all.map((row) =>
    row.map((cell, column) => (width === Infinity ? cell : fit(cell, most[column] ?? Infinity, style))),
  );
  const widths = head.map((title, column) =>
    Math.max(columnsOf(title), ...rows.map((row) => columnsOf(row[column] ?? ''))),
  );
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === head.length - 1
          ? fit(cell, Math.max(12, width - before), style)
          : pad(cell, widths[column] ?? 0, right?.has(column) ? 'left' : 'right'),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)];
}
