/** Maximum characters rendered as Markdown; the rest of a longer text is shown unrendered. */
export const MARKED_MAX = 24_576;

/** Quotes and lists nested too deeply: the cost of parsers grows with depth, in some without bound. */
const TOO_DEEP = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])(?=[ \t>]|$)){7,}/m;
const TOO_FAR_IN = /^(?: {0,3}\t| {4}){6,} *(?:[>*+-]|\d{1,9}[.)])[ \t]/m;

/** Maximum number of markers, cells, lines, addresses and list items per slice: parsing them takes quadratic time. */
const SLICE = 8_192;
const MOST: readonly (readonly [RegExp, number])[] = [
  [/[*_~`[\]<\\$]/g, 1_000],
  [/\|/g, 1_500],
  [/\n/g, 1_200],
  [/[@:]/g, 400],
  [/^[ \t]*(?:[>*+-]|\d{1,9}[.)])/gm, 400],
];

/** Whether parsing the text as Markdown would block the process; such a text is shown unrendered. */
export function isCostlyMarkdown(source: string): boolean {
  if (TOO_DEEP.test(source) || TOO_FAR_IN.test(source)) return true;
  for (let start = 0; start < source.length; start += SLICE) {
    const slice = source.slice(start, start + SLICE);
    if (MOST.some(([signs, most]) => (slice.match(signs)?.length ?? 0) > most)) return true;
  }
  return false;
}
