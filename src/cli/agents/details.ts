import { paint, type Style } from '../../render/style.ts';

/** Names and values below one another, the values in one column. */
export function detailLines(rows: readonly (readonly [string, string])[], style: Style): string[] {
  const width = Math.max(...rows.map(([key]) => key.length));
  return rows.map(([key, value]) => `${paint(style, 'dim', key.padEnd(width))}  ${value}`);
}
