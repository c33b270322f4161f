import { fit, sign, type UiStyle } from '../../render/style.ts';
import { columns, line, type Part } from '../text/line.ts';

/** Lines in a frame with a title; without the frame in accessible mode. */
export function box(
  title: string,
  rows: readonly (readonly Part[])[],
  width: number,
  style: UiStyle,
): string[] {
  if (style.accessible) return [line(style, width, [title]), ...rows.map((row) => line(style, width, row))];
  if (width < 8)
    return [line(style, width, [['yellow', title]]), ...rows.map((row) => line(style, width, row))];
  const dash = sign(style, '─');
  const inner = width - 4;
  const shown = fit(title, width - 6, style);
  const rest = Math.max(0, width - 4 - columns([shown]));
  const edge = (text: string): Part => ['yellow', text];
  return [
    line(style, width, [
      edge(`${sign(style, '┌')} `),
      ['bold', shown],
      edge(` ${dash.repeat(rest)}${sign(style, '┐')}`),
    ]),
    ...rows.map((row) => {
      const space = ' '.repeat(Math.max(0, inner - columns(row)));
      const bar = edge(sign(style, '│'));
      return `${line(style, 2, [bar, ' '])}${line(style, inner, row)}${space}${line(style, 2, [' ', bar])}`;
    }),
    line(style, width, [edge(`${sign(style, '└')}${dash.repeat(width - 2)}${sign(style, '┘')}`)]),
  ];
}
