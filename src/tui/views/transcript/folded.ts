import { cutText } from '../../../records/text/cut-text.ts';
import { breaksIn, counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import { type Paint, sign, type UiStyle } from '../../../render/style.ts';
import { line, type Part } from '../../text/line.ts';
import { type Batches, wrap, wrapInPieces } from '../../text/wrap.ts';

/** Maximum characters read of a folded text. */
const HEAD_MAX = 4_000;

export interface Fold {
  /** The label before the first line. */
  readonly label: readonly Part[];
  readonly text: string;
  readonly paint: Paint;
  readonly opened: boolean;
}

/** A text as one line, with the number of further lines; all lines when opened. */
export function* folded({ label, text, paint, opened }: Fold, width: number, style: UiStyle): Batches {
  if (opened) {
    yield [line(style, width, label)];
    return yield* indented(text.trim(), paint, width, style);
  }
  const trimmed = text.trimStart();
  const end = trimmed.indexOf('\n');
  const first = clean(end === -1 ? trimmed : trimmed.slice(0, end));
  const more = end === -1 ? 0 : breaksIn(trimmed.slice(end).trimEnd());
  const rest: readonly Part[] = more > 0 ? [['dim', ` (+${counted(more, 'line')})`]] : [];
  yield [line(style, width, [...label, [paint, first], ...rest])];
}

/** The two lines with which a unified diff begins; they name the file, which the call has named. */
const DIFF_HEAD = /^--- .*\n\+\+\+ .*\n(?=@@ )/;
const DIFF_PAINTS: Readonly<Record<string, Paint>> = { '+': 'green', '-': 'red', '@': 'cyan' };
/** Rows shown of a folded diff: what an edit does is what a person looks for. */
const DIFF_ROWS = 12;

/** The first `rows` lines of an output, more of a diff, and how many more there are. */
export function foldedOutput(output: string, most: number, width: number, style: UiStyle): string[] {
  const is_diff = DIFF_HEAD.test(output);
  const rows = is_diff ? DIFF_ROWS : most;
  const text = output.replace(DIFF_HEAD, '').trimEnd();
  if (text.trim() === '') return [];
  const head = wrap(cutText(text, HEAD_MAX).replace(/^\s*\n/, ''), width - 2, style);
  const whole = text.length <= HEAD_MAX && head.length <= rows + 1;
  const shown = whole ? head : head.slice(0, rows);
  const paint = (row: string): Paint => (is_diff && DIFF_PAINTS[row[0] ?? '']) || 'dim';
  const lines = shown.map((row) => line(style, width, ['  ', [paint(row), row]]));
  if (whole) return lines;
  const all = breaksIn(text) + 1;
  const hidden = Math.max(head.length, all) - shown.length;
  return [...lines, line(style, width, [['dim', `  ${sign(style, '…')} +${hidden} lines`]])];
}

export function wholeOutput(output: string, width: number, style: UiStyle): Batches {
  return indented(output.trimEnd(), 'dim', width, style);
}

function* indented(text: string, paint: Paint, width: number, style: UiStyle): Batches {
  for (const rows of wrapInPieces(text, width - 2, style))
    yield rows.map((row) => line(style, width, ['  ', [paint, row]]));
}
