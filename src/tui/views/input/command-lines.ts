import { duration } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import type { UiState } from '../../state/ui-state.ts';
import { line } from '../../text/line.ts';

const ROWS_MAX = 6;

/** The command that the person runs, and the end of its output so far. */
export function commandLines(
  { shell_command, now }: UiState,
  width: number,
  rows: number,
  style: UiStyle,
): string[] {
  if (shell_command === null || rows < 1) return [];
  const { command, output, since } = shell_command;
  const clock = style.accessible ? '' : ` ${duration(now - since)}`;
  const head = line(style, width, [
    ['magenta', '! '],
    clean(command),
    ['dim', `${clock} ${sign(style, '·')} Esc stops it`],
  ]);
  const newest = output
    .trimEnd()
    .split('\n')
    .slice(-(Math.min(rows, ROWS_MAX) - 1));
  const told = output.trim() === '' || rows < 2 ? [] : newest;
  return [head, ...told.map((row) => line(style, width, [['dim', `  ${clean(row)}`]]))];
}
