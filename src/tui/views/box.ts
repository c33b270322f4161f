import { fit, sign } from '../../render/style.ts';
import type { Look } from '../look.ts';
import { columns, line, type Part } from '../text/line.ts';

/** Lines in a frame with a title; without the frame where lines are read aloud. */
export function box(title: string, rows: readonly (readonly Part[])[], width: number, look: Look): string[] {
  if (look.accessible) return [line(look, width, [title]), ...rows.map((row) => line(look, width, row))];
  if (width < 8)
    return [line(look, width, [['yellow', title]]), ...rows.map((row) => line(look, width, row))];
  const dash = sign(look, '─');
  const inner = width - 4;
  const shown = fit(title, width - 6, look);
  const rest = Math.max(0, width - 4 - columns([shown]));
  const edge = (text: string): Part => ['yellow', text];
  return [
    line(look, width, [
      edge(`${sign(look, '┌')} `),
      ['bold', shown],
      edge(` ${dash.repeat(rest)}${sign(look, '┐')}`),
    ]),
    ...rows.map((row) => {
      const space = ' '.repeat(Math.max(0, inner - columns(row)));
      const bar = edge(sign(look, '│'));
      // What does not fit is cut inside the frame.
      return `${line(look, 2, [bar, ' '])}${line(look, inner, row)}${space}${line(look, 2, [' ', bar])}`;
    }),
    line(look, width, [edge(`${sign(look, '└')}${dash.repeat(width - 2)}${sign(look, '┘')}`)]),
  ];
}
