/** The first character that can extend the one before it (U+0300 COMBINING GRAVE ACCENT). */
const EXTENDING = 0x300;
/** Characters around a cut that are looked at: longer than any grapheme that is drawn as one. */
const WINDOW = 64;

let segmenter: Intl.Segmenter | undefined;

/** The first `max` characters (UTF-16 units) at most, `mark` included if something is cut off; never ends inside a grapheme, such as an emoji of several code points. */
export function cutText(text: string, max: number, mark = ''): string {
  return text.length <= max ? text : text.slice(0, boundary(text, max - mark.length, 'before')) + mark;
}

/** The last `max` characters at most, never beginning inside a grapheme. */
export function endOfText(text: string, max: number): string {
  return text.length <= max ? text : text.slice(boundary(text, text.length - max, 'after'));
}

const NAMES_SHOWN = 5;

/** The first names of a list, and how many more there are. */
export function listedNames(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more}`;
}

/** The boundary between graphemes nearest to `at`. */
function boundary(text: string, at: number, side: 'before' | 'after'): number {
  if (at <= 0 || at >= text.length) return Math.max(0, at);
  const [last, next] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  if (last < EXTENDING && next < EXTENDING && !(last === 13 && next === 10)) return at;
  const from = Math.max(0, at - WINDOW);
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const { index, segment } = segmenter.segment(text.slice(from, at + WINDOW)).containing(at - from) ?? {
    index: at - from,
    segment: '',
  };
  if (from + index === at) return at;
  if (side === 'after') return from + index + segment.length;
  // One grapheme without end is cut all the same, but not within a pair of surrogates.
  return index > 0 || from === 0 ? from + index : at - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
}
