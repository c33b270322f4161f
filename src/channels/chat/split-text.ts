import { type Entity, type FormattedText, hasVisible, limitEntities } from './formatted-text.ts';

const graphemes = new Intl.Segmenter();

/**
 * Cuts a text into pieces of at most `limit` UTF-16 units: between paragraphs, else lines, else sentences, else words, else graphemes. White space at
 * a cut is dropped (in code, one line break), entities that cross it continue in the next piece, and pieces without visible characters are dropped.
 */
export function splitText({ text, entities }: FormattedText, limit: number): FormattedText[] {
  const inCode = codePlaces(text.length, entities);
  const pieces: FormattedText[] = [];
  for (let start = afterGap(text, 0, inCode); start < text.length; ) {
    const end = text.length - start <= limit ? text.length : start + cutPlace(text, start, limit, inCode);
    const piece = pieceOf(text, entities, start, end);
    if (hasVisible(piece.text)) pieces.push(piece);
    start = afterGap(text, end, inCode);
  }
  return pieces;
}

type InCode = (place: number) => boolean;

/** Returns a predicate for places strictly inside a code block. */
function codePlaces(length: number, entities: readonly Entity[]): InCode {
  const places = new Uint8Array(length + 1);
  for (const entity of entities)
    if (entity.type === 'pre') places.fill(1, entity.offset + 1, entity.offset + entity.length);
  return (place) => places[place] === 1;
}

/** Skips the white space after a cut. */
function afterGap(text: string, place: number, inCode: InCode): number {
  if (inCode(place)) return text[place] === '\n' ? place + 1 : place;
  let next = place;
  // Keeps the indentation of a code block that begins here.
  while (next < text.length && /\s/.test(text[next] as string) && !inCode(next + 1)) next += 1;
  return next;
}

/** The length of the next piece; more than zero. */
function cutPlace(text: string, start: number, limit: number, inCode: InCode): number {
  // One character more, so that white space right after the limit counts.
  const window = text.slice(start, start + limit + 1);
  const ahead = text.slice(start, start + limit + 64);
  const boundaries = graphemes.segment(ahead);
  const whole = (place: number) => place === ahead.length || boundaries.containing(place)?.index === place;
  const last = (gap: RegExp, least: number, allowed: (place: number, next: number) => boolean): number => {
    let found = 0;
    for (const { index, 0: match } of window.matchAll(gap)) {
      const place = index + match.trimEnd().length;
      if (place >= least && place <= limit && allowed(place, index + match.length)) found = place;
    }
    return found;
  };
  // A combining mark may belong to the space.
  const between = (place: number, next: number) => whole(place) && whole(next);
  const outside = (place: number) => !inCode(start + place);
  return (
    last(/\n[ \t]*\n/g, limit / 4, outside) ||
    last(/\n/g, limit / 2, outside) ||
    last(/\n/g, limit / 4, () => true) ||
    last(/[.!?…]["'”’)\]]*\s|[。！？]/g, limit / 4, between) ||
    last(/\s/g, 1, between) ||
    hardCut(window, limit, boundaries)
  );
}

function hardCut(window: string, limit: number, boundaries: Intl.Segments): number {
  const place = boundaries.containing(limit)?.index ?? limit;
  if (place > 0) return place;
  // A single grapheme exceeds the limit: cuts it, but not within a surrogate pair.
  const low = window.charCodeAt(limit) >= 0xdc00 && window.charCodeAt(limit) <= 0xdfff;
  return low && limit > 1 ? limit - 1 : limit;
}

function pieceOf(text: string, entities: readonly Entity[], start: number, end: number): FormattedText {
  const shown = text.slice(start, end).trimEnd();
  const inside = entities.flatMap((entity) => {
    const from = Math.max(entity.offset, start);
    const to = Math.min(entity.offset + entity.length, start + shown.length);
    return to > from ? [{ ...entity, offset: from - start, length: to - from }] : [];
  });
  return { text: shown, entities: limitEntities(inside) };
}
