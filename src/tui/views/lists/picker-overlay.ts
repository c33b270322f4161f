import { THINKING } from '../../../records/agent/agent.ts';
import { clean } from '../../../render/clean.ts';
import { columnsOf, fit, pad, sign, type UiStyle } from '../../../render/style.ts';
import type { Entry } from '../../state/entry.ts';
import { type Picker, type PickerRow, pickerRows, selectedRow, takesEffort } from '../../state/picker.ts';
import type { Frame } from '../../terminal/screen.ts';
import { columns, line, type Part, separator } from '../../text/line.ts';
import { listAndPeek } from './list-and-peek.ts';

const GAP = 2;
/** Minimum width of a row's text; figures that do not fit beside it are left out, the first ones first. */
const TEXT_MIN = 24;
const FIGURE_MAX = 32;

/** Minimum height at which conversations are previewed. */
const PREVIEW_FROM = 10;

/** A list to choose from, and the newest part of the conversation that is selected in it. `tail`: its last lines. */
export function pickerOverlay(
  picker: Picker,
  width: number,
  height: number,
  style: UiStyle,
  tail: (entries: readonly Entry[], width: number, height: number) => readonly string[],
): Frame {
  const row = selectedRow(picker);
  if (picker.previews === undefined || row === null || height < PREVIEW_FROM)
    return listFrame(picker, width, height, style);
  const [paint, outcome] = row.outcome ?? [null, ''];
  const preview = (columns: number, rows: number) => [
    line(style, columns, [paint === null ? outcome : [paint, clean(outcome)]]),
    ...tail(picker.previews?.get(row.id) ?? [], columns, rows - 1),
  ];
  return listAndPeek((...of) => listFrame(picker, ...of, style), preview, width, height, style);
}

/** The list, with a filter in its first line; scrolls with the selection. */
function listFrame(picker: Picker, width: number, height: number, style: UiStyle): Frame {
  const rows = pickerRows(picker);
  const selected = selectedRow(picker, rows);
  const heading: Part = ['bold', ` ${picker.heading} ${rows.length}`];
  const filter = `${separator(style)}filter: ${clean(picker.filter)}`;
  const all: Part[] =
    picker.effort === undefined
      ? []
      : takesEffort(picker)
        ? [
            '   effort ',
            ...THINKING.map(
              (one): Part => (one === picker.effort ? ['bold', `[${one}] `] : ['dim', `${one} `]),
            ),
          ]
        : [['dim', '   this one decides how much it thinks']];
  const wide = columns([heading, filter, ...all]) <= width;
  const chosen: Part[] = takesEffort(picker) ? [separator(style), ['bold', `[${picker.effort}]`]] : [];
  const head: Part[] = wide ? [heading, filter] : [heading, ...chosen, filter];
  const efforts = wide ? all : [];
  const hints = height >= 4;
  const room = Math.max(0, height - 1 - (hints ? 1 : 0));
  const place = selected === null ? 0 : rows.indexOf(selected);
  const top = Math.max(0, Math.min(rows.length - room, place - Math.floor(room / 2)));
  const shown = rows.slice(top, top + room);
  const widths = figureWidths(picker.rows, width);
  const lines = [
    line(style, width, [...head, ...efforts]),
    ...shown.map((row) => rowLine(row, row === selected, widths, width, style)),
  ];
  if (rows.length === 0 && room > 0)
    lines.push(line(style, width, [['dim', `   ${picker.rows.length === 0 ? picker.empty : 'no matches'}`]]));
  if (hints) {
    const at = shown.length < rows.length ? `${top + 1}-${top + shown.length} of ${rows.length}  ` : '';
    const keys = [
      `Enter ${picker.verb}`,
      ...(picker.tab === undefined ? [] : [`Tab ${picker.tab.verb}`]),
      ...(takesEffort(picker) ? [`${style.unicode ? '← →' : 'Left Right'} effort`] : []),
      ...(picker.other === null ? [] : [`a ${picker.other}`]),
      'type to filter',
      'Esc',
    ];
    lines.push(line(style, width, [['dim', ` ${at}${keys.join(separator(style))}`]]));
  }
  const caret = columns(head) + (picker.filter.endsWith(' ') ? 1 : 0);
  return {
    lines: lines.slice(0, height),
    cursor: { row: 0, column: Math.min(caret, Math.max(0, width - 1)) },
  };
}

/** Width of each figure; 0: left out. */
function figureWidths(rows: readonly PickerRow[], width: number): readonly number[] {
  const most = Math.max(0, ...rows.map(({ figures }) => figures.length));
  const widths = Array.from({ length: most }, (_, index) =>
    Math.min(
      FIGURE_MAX,
      Math.max(0, ...rows.map(({ figures }) => columnsOf(clean(figures[index]?.[1] ?? '')))),
    ),
  );
  let left = width - TEXT_MIN;
  return widths
    .toReversed()
    .map((wanted) => {
      left -= wanted + GAP;
      return left >= 0 ? wanted : 0;
    })
    .toReversed();
}

function rowLine(
  row: PickerRow,
  selected: boolean,
  widths: readonly number[],
  width: number,
  style: UiStyle,
): string {
  const mark = selected ? ` ${style.accessible ? '>' : sign(style, '▸')} ` : '   ';
  const figures: Part[] = widths.flatMap((room, index) => {
    if (room === 0) return [];
    const [paint, text] = row.figures[index] ?? [null, ''];
    const cell = pad(fit(clean(text), room, style), room);
    return [' '.repeat(GAP), paint === null ? cell : ([paint, cell] as const)];
  });
  const room = Math.max(0, width - columnsOf(mark) - columns(figures));
  const text = pad(fit(clean(row.text), room, style), room);
  return line(style, width, [mark, selected ? ['bold', text] : text, ...figures]).trimEnd();
}

/** All rows as plain lines, each with its id, by which a command chooses it: for where nothing can be drawn. */
export function pickerLines(picker: Picker): string[] {
  const rows = pickerRows(picker).map(({ id, text, figures }) =>
    [...(id === text ? [] : [id.slice(0, 8)]), text, ...figures.map(([, figure]) => figure)]
      .map(clean)
      .filter((word) => word !== '')
      .join('  '),
  );
  return [...rows, `${picker.command} ${picker.verb}s one`];
}
