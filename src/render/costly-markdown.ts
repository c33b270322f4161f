/** Of a longer text the rest is shown as it was written. */
export const MARKED_MAX = 24_576;

/** Quotes and lists nested deeper than anybody reads, in one line or line by line: the cost of a parser grows with their depth, of some without end. */
const TOO_DEEP = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])(?=[ \t>]|$)){7,}/m;
const TOO_FAR_IN = /^(?: {0,3}\t| {4}){6,} *(?:[>*+-]|\d{1,9}[.)])[ \t]/m;

/** Of so much text, at most so many signs, cells, lines, addresses and points: reading them takes time that grows with the square of their number. */
const SLICE = 8_192;
const MOST: readonly (readonly [RegExp, number])[] = [
  [/[*_~`[\]<\\$]/g, 1_000],
  [/\|/g, 1_500],
  [/\n/g, 1_200],
  [/[@:]/g, 400],
  [/^[ \t]*(?:[>*+-]|\d{1,9}[.)])/gm, 400],
];

/** Whether reading the text as Markdown would hold up the process: such a text is shown as it was written. */
export function isCostlyMarkdown(source: string): boolean {
  if (TOO_DEEP.test(source) || TOO_FAR_IN.test(source)) return true;
  for (let start = 0; start < source.length; start += SLICE) {
    const slice = source.slice(start, start + SLICE);
    if (MOST.some(([signs, most]) => (slice.match(signs)?.length ?? 0) > most)) return true;
  }
  return false;
}
