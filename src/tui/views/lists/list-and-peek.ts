import { columnsOf, sign, type UiStyle } from '../../../render/style.ts';
import { SIDE_FROM } from '../../state/agents/filtered-agents.ts';
import type { Frame } from '../../terminal/screen.ts';
import { line, rule } from '../../text/line.ts';

/** A list with what is selected in it: at its right on a wide screen, else below it. */
export function listAndPeek(
  list: (width: number, height: number) => Frame,
  peek: (width: number, height: number) => readonly string[],
  width: number,
  height: number,
  style: UiStyle,
): Frame {
  if (width < SIDE_FROM) {
    const below = Math.floor(height / 2);
    const frame = list(width, height - below);
    const head = rule(style, width);
    const lines = [...frame.lines, ...head, ...peek(width, below - head.length)];
    return { ...frame, lines: lines.slice(0, height) };
  }
  const left = Math.floor(width * 0.58);
  const frame = list(left, height);
  const side = peek(width - left - 2, height);
  const bar = line(style, 2, [['dim', style.accessible ? '' : sign(style, '│')], ' ']);
  const lines = Array.from({ length: Math.max(frame.lines.length, side.length) }, (_, row) => {
    const before = frame.lines[row] ?? '';
    return `${before}${' '.repeat(Math.max(0, left - columnsOf(before)))}${bar}${side[row] ?? ''}`.trimEnd();
  });
  return { ...frame, lines: lines.slice(0, height) };
}
