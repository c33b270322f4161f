import { clean } from '../../../render/clean.ts';
import { columnsOf, fit, pad, type UiStyle } from '../../../render/style.ts';
import { COLUMNS, type KeyRow } from '../../keys/key-rows.ts';
import type { Frame } from '../../terminal/screen.ts';
import { columns, line, type Part, separator } from '../../text/line.ts';
import { wrap } from '../../text/wrap.ts';

/** Minimum width of a column; there are as many as fit. */
const COLUMN_MIN = 58;
/** Maximum width of keys and commands, before what they do. */
const WAYS_MAX = 32;

/** What the person typed, and the first row that is shown. */
export interface HelpView {
  readonly filter?: string;
  readonly from?: number;
}

/** All keys and commands, in groups, beside each other where there is room; only those that hold every word of the filter. */
export function keysHelp(
  keys: readonly KeyRow[],
  { filter = '', from = 0 }: HelpView,
  leader: string,
  width: number,
  height: number,
  style: UiStyle,
): Frame {
  const body = helpLines(keys, filter, leader, width, height, style);
  const room = Math.max(1, height - 2);
  const first = Math.max(0, Math.min(from, body.length - room));
  const head: Part[] = [['bold', ' Keys and commands'], `${separator(style)}filter: ${clean(filter)}`];
  const shown = body.slice(first, first + room);
  const place = shown.length < body.length ? [`${first + 1}-${first + shown.length} of ${body.length}`] : [];
  const scrolls = place.length > 0 ? ['arrows and pages scroll'] : [];
  const hint = [...place, ...scrolls, 'type to filter', 'Esc'].join(separator(style));
  const lines = [line(style, width, head), ...shown, line(style, width, [['dim', ` ${hint}`]])];
  const column = Math.min(columns(head) + (filter.endsWith(' ') ? 1 : 0), Math.max(0, width - 1));
  return { lines: lines.slice(0, Math.max(0, height)), cursor: { row: 0, column } };
}

/** The rows below the first line. */
export function helpLines(
  given: readonly KeyRow[],
  filter: string,
  leader: string,
  width: number,
  height: number,
  style: UiStyle,
): readonly string[] {
  const words = filter.toLowerCase().split(/\s+/);
  const told = given.map((row) => {
    const { chord, leader: then, slash, ...rest } = style.unicode && !style.accessible ? row : spelled(row);
    const ways = [chord, then === '' ? '' : `${leader} ${then}`, slash]
      .filter((way) => way !== '')
      .map(clean);
    return { ...rest, ways };
  });
  const rows = told.filter((row) => {
    const text = [row.group, row.action, ...row.ways].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  if (rows.length === 0) return [line(style, width, [['dim', '   no matches']])];
  const count = style.accessible ? 1 : Math.max(1, Math.floor(width / COLUMN_MIN));
  const wide = Math.floor(width / count) - (count > 1 ? 1 : 0);
  const most = Math.min(WAYS_MAX, Math.max(...rows.map(({ ways }) => columnsOf(ways.join('  ')))));
  const lines = rows.flatMap(({ group, action, ways }, at) => {
    const title = group === rows[at - 1]?.group ? [] : [line(style, wide, [['bold', ` ${group}`]])];
    if (style.accessible || wide < COLUMN_MIN)
      return [
        ...title,
        ...wrap(`${action}: ${ways.join(', ')}`, wide - 4, style).map(
          (one, row) => `${row === 0 ? '  ' : '    '}${one}`,
        ),
      ];
    const [text = '', ...more] = wrap(action, wide - most - 4, style);
    const way = ways.join('  ');
    // Keys that leave no room have a row of their own.
    const head = columnsOf(way) > most ? [`  ${fit(way, wide - 2, style)}`] : [];
    const cell = (shown: string, beside: string) => `  ${pad(shown, most)}  ${beside}`;
    return [...title, ...head, cell(head.length > 0 ? '' : way, text), ...more.map((one) => cell('', one))];
  });
  const high = Math.max(Math.ceil(lines.length / count), Math.min(lines.length, height - 2));
  return Array.from({ length: high }, (_, row) =>
    Array.from({ length: count }, (_, column) => lines[column * high + row] ?? '')
      .map((cell) => `${cell}${' '.repeat(Math.max(0, wide + 1 - columnsOf(cell)))}`)
      .join('')
      .trimEnd(),
  );
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
  return { ...row, ...(Object.fromEntries(columns) as Record<(typeof COLUMNS)[number], string>) };
}
