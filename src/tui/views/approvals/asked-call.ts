import type { Ask } from '../../../records/conversation/ask.ts';
import { type AskPart, askParts } from '../../../render/ask-parts.ts';
import { cutLines, cutMiddle } from '../../../render/hidden-characters.ts';
import { type Paint, sign, type UiStyle } from '../../../render/style.ts';
import type { Part } from '../../text/line.ts';
import { PIECE_MAX, pieceMax, wrap } from '../../text/wrap.ts';

/** The effect of the call: all of it if there is room, otherwise its beginning and end, or a page; a mark says what is missing. */
export function subjectRows(
  ask: Ask,
  page: number,
  width: number,
  rows: number,
  style: UiStyle,
  whole = 'PgDn shows them, p prints all',
): (readonly Part[])[] {
  const { lines, left_out } = subjectLines(ask, width, style);
  if (rows === 1 && lines.length > 1) {
    const all = lines.map(({ text }) => text).join(' ');
    return [[['bold', cutMiddle(all, Math.max(1, width - MARK_ROOM))]]];
  }
  const but = left_out === 0 ? '' : ` (${left_out} characters are only in print)`;
  return pageOf(lines, page, rows, (told) => ({
    text: `${sign(style, '…')} ${typeof told === 'number' ? `+${told} more lines: ${whole}${but}` : told}`,
    paint: 'yellow' as const,
  })).map(({ text, paint }) => [[paint, text]]);
}

/** Page 0 has the beginning and the end; the others are consecutive, and after the last one comes 0 again. */
function pageOf(
  lines: readonly AskRow[],
  page: number,
  rows: number,
  mark: (told: number | string) => AskRow,
): readonly AskRow[] {
  const size = Math.max(1, rows - 1);
  const pages = lines.length > rows ? Math.ceil(lines.length / size) + 1 : 1;
  const at = ((page % pages) + pages) % pages;
  if (at === 0) return cutLines(lines, rows, mark);
  // The last page is full, so that the box keeps its height.
  const from = Math.min((at - 1) * size, lines.length - size);
  const told = `${from + 1}-${from + size} of ${lines.length} lines: PgUp, PgDn`;
  return [...lines.slice(from, from + size), mark(told)];
}

interface SubjectLines {
  readonly key: string;
  readonly lines: readonly AskRow[];
  /** Number of characters that are in no line. */
  readonly left_out: number;
}

/** Cache of lines: the box is drawn many times a second, and an ask does not change. */
const CACHE = new WeakMap<Ask, SubjectLines>();

/** Maximum pieces shown of one argument, and of all together; a longer text loses its middle. */
const PIECES = 4;
const ARGUMENT_MAX = PIECES * PIECE_MAX;
const ROOM_MIN = 200;

export function subjectLines(ask: Ask, width: number, style: UiStyle): SubjectLines {
  const key = `${width} ${style.unicode}`;
  const kept = CACHE.get(ask);
  if (kept?.key === key) return kept;
  let [share, left_out] = [1, 0];
  const lines = askParts(ask, ARGUMENT_MAX).flatMap((part): AskRow[] => {
    const text = askPartText(part);
    const most = PIECES * pieceMax(text);
    const near = cutMiddle(text, Math.max(ROOM_MIN, Math.floor(share * most)), part.left_out);
    share -= near.length / most;
    left_out += part.left_out + Math.max(0, text.length - near.length);
    const shown = wrap(near, width, style);
    return shown.map((row) => ({ text: row, paint: part.language === 'diff' ? paintOf(row) : 'bold' }));
  });
  const all = { key, lines, left_out };
  CACHE.set(ask, all);
  return all;
}

interface AskRow {
  readonly text: string;
  readonly paint: Paint;
}

/** Room for the mark that says how much of a line is left out. */
const MARK_ROOM = 24;

function askPartText({ name, is_subject, text }: AskPart): string {
  const trimmed = text.trimEnd();
  if (is_subject || name === '') return trimmed;
  return trimmed.includes('\n') ? `${name}:\n${trimmed}` : `${name}: ${trimmed}`;
}

function paintOf(line: string): Paint {
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : 'dim';
}
