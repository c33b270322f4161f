import { pad, type UiStyle } from '../../../render/style.ts';
import { COLUMNS, type KeyRow } from '../../keys/key-rows.ts';
import { line } from '../../text/line.ts';

const GAP = 2;

/** All keys as a table; on a narrow terminal, one line per action. `from`: the first row that is shown, as far as the rest fills the screen. */
export function keysHelp(
  keys_given: readonly KeyRow[],
  leader: string,
  width: number,
  height: number,
  style: UiStyle,
  from = 0,
): string[] {
  const keys = style.unicode && !style.accessible ? keys_given : keys_given.map(spelled);
  const titles: KeyRow = { action: 'action', chord: 'chord', leader: `${leader} then`, slash: 'slash' };
  const widths = COLUMNS.map((column) => Math.max(...[titles, ...keys].map((row) => row[column].length)));
  const needed = widths.reduce((sum, one) => sum + one + GAP, 1);
  const table = !style.accessible && needed <= width;
  const row = (one: KeyRow): string =>
    ` ${COLUMNS.map((column, index) => pad(one[column], (widths[index] ?? 0) + GAP)).join('')}`.trimEnd();
  const told = (one: KeyRow): string => {
    const ways = [one.chord, one.leader === '' ? '' : `${leader} ${one.leader}`, one.slash];
    return ` ${one.action}: ${ways.filter((way) => way !== '').join(', ')}`;
  };
  const body = table ? [row(titles), ...keys.map(row)] : keys.map(told);
  const room = Math.max(1, height - 1);
  const first = Math.min(from, Math.max(0, body.length - room));
  const shown = body.slice(first, first + room);
  const lines = shown.map((text, index) =>
    line(style, width, [table && first + index === 0 ? ['bold', text] : text]),
  );
  const place = ` rows ${first + 1} to ${first + shown.length} of ${body.length}: arrows and pages scroll, any other key closes`;
  const hint = body.length <= room ? ' any key closes' : place;
  return [...lines, line(style, width, [['dim', hint]])].slice(0, Math.max(0, height));
}

const ARROWS: Readonly<Record<string, string>> = { '↑': 'Up', '↓': 'Down', '←': 'Left', '→': 'Right' };

/** Arrows as words, for ASCII terminals and screen readers. */
export function spelled(row: KeyRow): KeyRow {
  const words = (text: string): string =>
    text
      .replaceAll(/[↑↓←→]/g, (arrow) => ARROWS[arrow] ?? arrow)
      .replaceAll('1…9', '1-9')
      .replaceAll('…', '...');
  const columns = COLUMNS.map((column) => [column, words(row[column])]);
  return Object.fromEntries(columns) as Record<(typeof COLUMNS)[number], string>;
}
