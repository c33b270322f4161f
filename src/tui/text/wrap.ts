import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import { cleanLines } from '../../render/clean.ts';
import { columnsOf, fit, type Style } from '../../render/style.ts';

const TAB = '   ';
/** More characters than this are never worked on at once; of emoji, which take ten times as long as other signs, fewer. */
export const PIECE_MAX = 8_192;
const EMOJI_MAX = 2_048;
const EMOJI = /[\u200d\ud83c-\ud83e]/;

/** The first emoji ever counted takes forty times as long as the next: better before somebody waits for it. */
export function warmUp(style: Style): void {
  wrap('👩‍👩‍👧', 1, style);
}

/** Foreign text as lines that fit: cleaned, broken at words where that is possible, between characters where it is not. */
export function wrap(text: string, width: number, style: Style): string[] {
  const room = Math.max(1, width);
  return wrapTextWithAnsi(cleanLines(text).replaceAll('\t', TAB), room).map((row) => {
    const line = row.trimEnd();
    return columnsOf(line) <= room ? line : fit(line, room, style);
  });
}

/** The same for text of any length, a piece of it at a time. */
export function* wrapInPieces(text: string, width: number, style: Style): Generator<string[]> {
  let start = 0;
  for (let end = rowsEnd(text, 0); end < text.length; end = rowsEnd(text, start)) {
    yield wrap(text.slice(start, text[end - 1] === '\n' ? end - 1 : end), width, style);
    start = end;
  }
  yield wrap(text.slice(start), width, style);
}

/** Behind the last of the lines that fit into a piece; where none does, as `cutPlace`. */
function rowsEnd(text: string, start: number): number {
  const most = pieceMax(text.slice(start, start + PIECE_MAX));
  if (text.length - start <= most) return text.length;
  const break_at = text.slice(start, start + most).lastIndexOf('\n');
  return break_at === -1 ? cutPlace(text, start, text.length, most) : start + break_at + 1;
}

/** How much of such text is worked on at once. */
export function pieceMax(text: string): number {
  return EMOJI.test(text) ? EMOJI_MAX : PIECE_MAX;
}

/** Where a line that is too long is cut: behind a space if there is one, never inside a character. */
export function cutPlace(text: string, start: number, end: number, most: number): number {
  if (end - start <= most) return end;
  const [half, limit] = [start + most / 2, start + most];
  const space = text.slice(half, limit + 1).lastIndexOf(' ');
  if (space > 0) return half + space + 1;
  const unit = text.charCodeAt(limit);
  return unit >= 0xdc00 && unit <= 0xdfff ? limit - 1 : limit;
}
