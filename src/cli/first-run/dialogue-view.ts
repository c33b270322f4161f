import { clean } from '../../render/clean.ts';
import { columnsOf, sign, type UiStyle } from '../../render/style.ts';
import type { Frame } from '../../tui/terminal/screen.ts';
import { line } from '../../tui/text/line.ts';

export interface Choice {
  readonly text: string;
  readonly detail?: string;
}

export interface ChoiceView {
  readonly title: string;
  readonly choices: readonly Choice[];
  /** Indexes of the choices that match the filter. */
  readonly shown: readonly number[];
  /** Index into `shown`. */
  readonly selected: number;
  readonly filter: string;
  /** Maximum choices on the screen. */
  readonly rows: number;
}

/** Indexes of the choices that contain every word of the filter. */
export function matching(choices: readonly Choice[], filter: string): number[] {
  const words = filter.toLowerCase().split(/\s+/);
  return choices.flatMap(({ text }, index) =>
    words.every((word) => text.toLowerCase().includes(word)) ? [index] : [],
  );
}

export function choiceLines(view: ChoiceView, width: number, style: UiStyle): string[] {
  const { title, choices, shown, selected, filter, rows } = view;
  const first = Math.max(0, Math.min(selected - Math.floor(rows / 2), shown.length - rows));
  const visible = shown.slice(first, first + rows);
  const longest = Math.max(0, ...visible.map((index) => columnsOf(choices[index]?.text ?? '')));
  const lines = visible.map((index, row) => {
    const { text = '', detail = '' } = choices[index] ?? {};
    const is_selected = first + row === selected;
    const mark = is_selected ? (style.accessible ? '> ' : `${sign(style, '▸')} `) : '  ';
    const label = `${index + 1}  ${clean(text)}${' '.repeat(Math.max(0, longest - columnsOf(text)))}`;
    return line(style, width, [
      mark,
      is_selected ? ['bold', label] : label,
      ['dim', detail === '' ? '' : `   ${detail.replace('…', sign(style, '…'))}`],
    ]);
  });
  const hidden = shown.length - visible.length;
  const asked = filter === '' && hidden === 0 ? [] : [countLine(filter, hidden, width, style)];
  return [line(style, width, [clean(title)]), ...lines, ...asked];
}

function countLine(filter: string, hidden: number, width: number, style: UiStyle): string {
  const more = hidden > 0 ? `+${hidden} more ` : '';
  const typed = filter === '' ? 'type to filter' : `filter: ${clean(filter)}`;
  return line(style, width, [['dim', `  ${more}${sign(style, '·')} ${typed}`]]);
}

/** Draws a line of input, with the cursor after it; for hidden input, only its length. */
export function typedLine(
  title: string,
  text: string,
  hidden: boolean,
  width: number,
  style: UiStyle,
): Frame {
  const shown = hidden ? (text === '' ? '' : `${text.length} characters, hidden`) : clean(text);
  const prompt = '> ';
  const tail = endOf(shown, width - prompt.length - 1);
  const lines = [
    line(style, width, [clean(title)]),
    line(style, width, [prompt, tail]),
    line(style, width, [['dim', `Enter continues ${sign(style, '·')} Esc goes back`]]),
  ];
  return { lines, cursor: { row: 1, column: Math.min(width - 1, prompt.length + columnsOf(tail)) } };
}

/** Returns as much of the end as fits, because the cursor is there. */
function endOf(text: string, width: number): string {
  let tail = '';
  let used = 0;
  for (const { segment } of [...new Intl.Segmenter().segment(text)].reverse()) {
    used += columnsOf(segment);
    if (used > width) return tail;
    tail = segment + tail;
  }
  return tail;
}
