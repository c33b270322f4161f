import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import { cleanLines } from '../../render/clean.ts';
import { columnsOf, fit, type Style, withSigns } from '../../render/style.ts';

/** Lines in batches, none of which takes long to render. */
export type Batches = Iterable<readonly string[]>;

const TAB = '   ';
/** Maximum characters that are wrapped at once; fewer with emoji, which take ten times as long. */
export const PIECE_MAX = 8_192;
const EMOJI_MAX = 2_048;
const EMOJI = /[\u200d\ud83c-\ud83e]/;

/** Measures an emoji in advance: the first one takes forty times as long as later ones. */
export function warmUp(style: Style): void {
  wrap('👩‍👩‍👧', 1, style);
}

/** Wraps untrusted text into lines that fit: cleaned, broken between words where possible. */
export function wrap(text: string, width: number, style: Style): string[] {
  const room = Math.max(1, width);
  return wrapTextWithAnsi(withSigns(cleanLines(text).replaceAll('\t', TAB), style), room).map((row) => {
    const line = row.trimEnd();
    return columnsOf(line) <= room ? line : fit(line, room, style);
  });
}

/** Like `wrap`, for text of any length, piece by piece. */
export function* wrapInPieces(text: string, width: number, style: Style): Generator<string[]> {
  let start = 0;
  for (let end = rowsEnd(text, 0); end < text.length; end = rowsEnd(text, start)) {
    yield wrap(text.slice(start, text[end - 1] === '\n' ? end - 1 : end), width, style);
    start = end;
  }
  yield wrap(text.slice(start), width, style);
}

/** Offset of the end of the last line that fits into a piece; if none fits, that of `cutPlace`. */
function rowsEnd(text: string, start: number): number {
  const most = pieceMax(text.slice(start, start + PIECE_MAX));
  if (text.length - start <= most) return text.length;
  const break_at = text.slice(start, start + most).lastIndexOf('\n');
  return break_at === -1 ? cutPlace(text, start, text.length, most) : start + break_at + 1;
}

/** Maximum characters of this text that are wrapped at once. */
export function pieceMax(text: string): number {
  return EMOJI.test(text) ? EMOJI_MAX : PIECE_MAX;
}

/** Offset at which a line that is too long is cut: after a space if there is one, never inside a surrogate pair. */
export function cutPlace(text: string, start: number, end: number, most: number): number {
  if (end - start <= most) return end;
  const [half, limit] = [start + most / 2, start + most];
  const space = text.slice(half, limit + 1).lastIndexOf(' ');
  if (space > 0) return half + space + 1;
  const unit = text.charCodeAt(limit);
  return unit >= 0xdc00 && unit <= 0xdfff ? limit - 1 : limit;
}
