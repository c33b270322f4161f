const SEPARATOR = /^[ >]*\|?[ ]*(?::?-+:?[ ]*\|[ ]*)*:?-+:?[ ]*\|?[ ]*$/m;
/** The border between two cells, and at both ends of a row. */
const BAR = '│';

/** Matches a cell, and captures all blanks but one after its text; colours may end there. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences.
const CELL_END = /^ .*?( *) (?:\u001b\[[\d;]*m)*$/;

type Side = 'left' | 'right' | 'centre';

/** Aligns the cells of a drawn table as its separator row (`---:`) asks, which the library ignores; `source` contains at most one table. */
export function alignedTable(source: string, lines: readonly string[]): readonly string[] {
  if (!source.includes('-:')) return lines;
  const row = SEPARATOR.exec(source)?.[0];
  if (row === undefined) return lines;
  const sides = row
    .replace(/^[ >]*\|?/, '')
    .replace(/\|?[ ]*$/, '')
    .split('|')
    .map(sideOf);
  return lines.map((line) => alignedRow(line, sides));
}

function sideOf(cell: string): Side {
  const rule = cell.trim();
  if (!rule.endsWith(':')) return 'left';
  return rule.startsWith(':') ? 'centre' : 'right';
}

/** Aligns the cells of a row; a row whose cells cannot be told apart stays as it is. */
function alignedRow(line: string, sides: readonly Side[]): string {
  const cells = line.split(BAR);
  if (cells.length !== sides.length + 2) return line;
  return cells
    .map((cell, index) => (index === 0 ? cell : alignedCell(cell, sides[index - 1] ?? 'left')))
    .join(BAR);
}

/** Moves the blanks after the text (half of them to centre it) before it, except for one at each end. */
function alignedCell(cell: string, side: Side): string {
  const behind = CELL_END.exec(cell)?.[1]?.length ?? 0;
  if (side === 'left' || behind === 0) return cell;
  const moved = side === 'right' ? behind : Math.floor(behind / 2);
  const end = cell.lastIndexOf(' '.repeat(behind + 1));
  return ` ${' '.repeat(moved)}${cell.slice(1, end)}${cell.slice(end + moved)}`;
}
