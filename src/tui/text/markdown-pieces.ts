/**
 * Cuts Markdown into pieces that can be rendered one by one. A boundary depends only on what precedes it and on the first characters
 * that follow: text appended to a stream changes only its last piece.
 */
import { cutPlace, PIECE_MAX, pieceMax } from './wrap.ts';

/** Maximum characters of a piece of code: fewer than of text, since highlighting takes longer. */
const CODE_MAX = 4_096;
/**
 * Maximum rows of a piece of code or of a list. What has not been printed yet is drawn again and again, and rows of it that a window pushes into its scrollback
 * as it gets lower stay there: so that little is left.
 */
const ROWS_MAX = 12;

export interface Fence {
  readonly marker: string;
  readonly language: string;
}

export interface Piece {
  readonly start: number;
  readonly end: number;
  /** Whether a blank line precedes the piece. */
  readonly gap: boolean;
  /** A code block, or part of one; `opens` and `closes`: whether its first and last lines are the fence; `context`: where the code begins that it is coloured with. */
  readonly code: {
    readonly fence: Fence;
    readonly opens: boolean;
    readonly closes: boolean;
    readonly context: number;
  } | null;
}

const FENCE = /```|~~~/;
const OPENING = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const INNER_OPENING = /^\s+(?:(?:[-+*]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})|^(?:[-+*]|\d{1,9}[.)])\s+(`{3,}|~{3,})/;
const ITEM = /^(?:[-+*]|\d{1,9}[.)])\s/;
const LANGUAGE_MAX = 20;

/** Cuts a text into pieces; `resumed`: the piece of an earlier cut from which to cut again. */
export function* cutPieces(text: string, resumed: Piece | null): Generator<Piece> {
  let pieces: Piece[] = [];
  const from = resumed?.start ?? 0;
  let start = from;
  let gap = resumed?.gap ?? false;
  let code: Piece['code'] = resumed?.code?.opens === false ? { ...resumed.code, closes: false } : null;
  /** In a code block inside a list: the marker that closes it. */
  let inner: string | null = null;
  let blank = false;
  let most = PIECE_MAX;
  let rows = 0;
  const cut = (end: number, next_gap: boolean): void => {
    if (end > start || code !== null) pieces.push({ start, end, gap, code });
    start = end;
    gap = next_gap;
    inner = null;
    blank = false;
    most = PIECE_MAX;
    rows = 0;
  };
  for (let place = from; place < text.length; ) {
    if (pieces.length > 0) {
      yield* pieces;
      pieces = [];
    }
    if (text[place] === '\n' && code === null && inner === null && place - start < most) {
      blank = true;
      place += 1;
      continue;
    }
    const found = text.indexOf('\n', place);
    const end = found === -1 ? text.length : found + 1;
    const row = text.slice(place, Math.min(end, place + PIECE_MAX)).trimEnd();
    const fenced = code === null && FENCE.test(row);
    const opening = fenced ? OPENING.exec(row) : null;
    if (opening !== null) {
      cut(place, place > 0);
      code = { fence: fenceOf(opening), opens: true, closes: false, context: end };
    } else if (code === null && inner === null && row !== '') {
      const parted = blank && !/^(?: {2}|\t| \t)/.test(row);
      if (parted || (rows >= ROWS_MAX && ITEM.test(row))) cut(place, parted);
      blank = false;
    }
    const room = code === null ? PIECE_MAX : CODE_MAX;
    const mostFrom = (from: number) =>
      Math.min(pieceMax(text.slice(from, Math.min(end, from + PIECE_MAX))), room);
    let row_most = mostFrom(place);
    if (end - start > Math.min(most, row_most)) {
      if (place > start) cut(place, false);
      for (let next = start; next < end; next = cutPlace(text, start, end, row_most)) {
        if (next > start) cut(next, false);
        row_most = mostFrom(start);
      }
      if (code !== null) code = { ...code, opens: false, context: start };
    }
    rows += 1;
    most = Math.min(most, row_most);
    if (code !== null) {
      if (opening === null && closes(row, code.fence.marker)) {
        code = { ...code, closes: true };
        cut(end, true);
        code = null;
      } else if (rows >= ROWS_MAX) {
        cut(end, false);
        // The colours of a row depend on those before it.
        code = { ...code, opens: false, context: end - code.context > CODE_MAX ? end : code.context };
      }
    } else if (inner !== null) {
      if (closes(row.trimStart(), inner)) inner = null;
    } else if (row === '') blank = true;
    else {
      const nested = fenced ? INNER_OPENING.exec(row) : null;
      if (nested !== null) inner = nested[1] ?? nested[2] ?? null;
    }
    place = end;
  }
  if (start < text.length) cut(text.length, false);
  yield* pieces;
}

function fenceOf([, marker = '```', info = '']: RegExpExecArray): Fence {
  const language = /^[\w+#.-]*/.exec(info.trim())?.[0] ?? '';
  return { marker, language: language.slice(0, LANGUAGE_MAX) };
}

function closes(row: string, marker: string): boolean {
  return row.startsWith(marker) && row === (marker[0] as string).repeat(row.length);
}
