/**
 * Cuts Markdown into pieces that can be rendered one by one. A boundary depends on what stands before it and on the first characters
 * behind it only: text that is still being written changes nothing but its last piece.
 */

/** More than this is never rendered at once: some constructs take time that grows with the square of their length. */
const PIECE_MAX = 8_192;

export interface Fence {
  readonly marker: string;
  readonly language: string;
}

export interface Piece {
  readonly start: number;
  readonly end: number;
  /** A blank line stands before it. */
  readonly gap: boolean;
  /** It is code, or part of it; `opens` and `closes` say whether its first and last lines are the fence. */
  readonly code: { readonly fence: Fence; readonly opens: boolean; readonly closes: boolean } | null;
}

const OPENING = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const INNER_OPENING = /^\s+(?:(?:[-+*]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})|^(?:[-+*]|\d{1,9}[.)])\s+(`{3,}|~{3,})/;
const LANGUAGE_MAX = 20;

/** All pieces from `from` on; `from` is where a piece of an earlier cut began, and `resumed` that piece. */
export function cutPieces(text: string, resumed: Piece | null): Piece[] {
  const pieces: Piece[] = [];
  const from = resumed?.start ?? 0;
  let start = from;
  let gap = resumed?.gap ?? false;
  let code: Piece['code'] = resumed?.code?.opens === false ? { ...resumed.code, closes: false } : null;
  /** Inside a list: the marker that closes its code. */
  let inner: string | null = null;
  let blank = false;
  const cut = (end: number, next_gap: boolean): void => {
    if (end > start || code !== null) pieces.push({ start, end, gap, code });
    start = end;
    gap = next_gap;
    inner = null;
    blank = false;
  };
  for (let place = from; place < text.length; ) {
    const found = text.indexOf('\n', place);
    const end = found === -1 ? text.length : found + 1;
    const row = text.slice(place, Math.min(end, place + PIECE_MAX)).trimEnd();
    if (end - start > PIECE_MAX) {
      if (place > start) cut(place, false);
      for (let next = cutPlace(text, start, end); next < end; next = cutPlace(text, start, end))
        cut(next, false);
      if (code !== null) code = { ...code, opens: false };
    }
    if (code !== null) {
      if (closes(row, code.fence.marker)) {
        code = { ...code, closes: true };
        cut(end, true);
        code = null;
      }
      place = end;
      continue;
    }
    const opening = OPENING.exec(row);
    if (opening !== null) {
      cut(place, place > 0);
      code = { fence: fenceOf(opening), opens: true, closes: false };
    } else if (inner !== null) {
      if (closes(row.trimStart(), inner)) inner = null;
    } else if (row === '') blank = true;
    else {
      if (blank && !/^(?: {2}|\t| \t)/.test(row)) cut(place, true);
      blank = false;
      const nested = INNER_OPENING.exec(row);
      if (nested !== null) inner = nested[1] ?? nested[2] ?? null;
    }
    place = end;
  }
  if (start < text.length) cut(text.length, false);
  return pieces;
}

function fenceOf([, marker = '```', info = '']: RegExpExecArray): Fence {
  const language = /^[\w+#.-]*/.exec(info.trim())?.[0] ?? '';
  return { marker, language: language.slice(0, LANGUAGE_MAX) };
}

function closes(row: string, marker: string): boolean {
  return row.startsWith(marker) && row === (marker[0] as string).repeat(row.length);
}

/** Where a line that is too long is cut: behind a space if there is one, never inside a character. */
function cutPlace(text: string, start: number, end: number): number {
  if (end - start <= PIECE_MAX) return end;
  const limit = start + PIECE_MAX;
  const space = text.lastIndexOf(' ', limit);
  if (space > start + PIECE_MAX / 2) return space + 1;
  const unit = text.charCodeAt(limit);
  return unit >= 0xdc00 && unit <= 0xdfff ? limit - 1 : limit;
}
