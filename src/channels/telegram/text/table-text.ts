import type { Tokens } from 'marked';
import { columnsOf } from '../../../render/style.ts';

/** Maximum width to which cells are padded, so that one long cell does not widen every other row. */
const COLUMN_MAX = 32;

/** Formats a table in columns of fixed width, for a `pre` entity; returns it as written when a row has more cells than the head. */
export function tableText(table: Tokens.Table, textOf: (cell: Tokens.TableCell) => string): string {
  const rows = [table.header, ...table.rows].map((cells) =>
    cells.map((cell) => textOf(cell).replaceAll('\n', ' ')),
  );
  if (!isWhole(table)) return table.raw.trimEnd();
  const widths = table.header.map((_, column) =>
    Math.min(COLUMN_MAX, Math.max(1, ...rows.map((cells) => columnsOf(cells[column] ?? '')))),
  );
  const lines = rows.map((cells) => line(cells, widths, table.align));
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('─┼─'), ...lines.slice(1)].join('\n');
}

function line(cells: readonly string[], widths: readonly number[], align: Tokens.Table['align']): string {
  const padded = widths.map((width, column) => {
    const cell = cells[column] ?? '';
    const space = Math.max(0, width - columnsOf(cell));
    const left = align[column] === 'right' ? space : align[column] === 'center' ? Math.floor(space / 2) : 0;
    return ' '.repeat(left) + cell + ' '.repeat(space - left);
  });
  return padded.join(' │ ').trimEnd();
}

/** Whether the parser kept all cells: it drops those beyond the last column of the head. */
function isWhole(table: Tokens.Table): boolean {
  const bare = (text: string) => text.replaceAll(/[\s|:\\-]/g, '');
  const cells = [table.header, ...table.rows].flat().map((cell) => cell.text);
  return bare(cells.join('')) === bare(table.raw);
}
