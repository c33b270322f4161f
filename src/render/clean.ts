const ESCAPES =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])?/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Direction marks, overrides and isolates, zero-width characters but for the joiner, and the byte order mark. */
const INVISIBLE = /[\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
const JOINER = '\u200d';
/** Joiners that do not join two emoji. */
const LOOSE_JOINER =
  /(?<!\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}])\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
/** Combining marks stacked on one character paint over neighbouring lines; no script needs more than a few. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu;
/** Maximum characters of one line: more than any terminal shows. */
const LINE_MAX = 4_000;

/** Fast path: nothing to remove. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Untrusted text as one line for a terminal: without escape sequences, control and direction characters, and cut when very long. */
export function clean(text: string): string {
  if (text.length <= LINE_MAX && PLAIN.test(text)) return text.trim();
  return cleanLines(text.slice(0, LINE_MAX))
    .replaceAll(/[\n\t]+/g, ' ')
    .trim();
}

/** As `clean`, for text of several lines and any length. */
export function cleanLines(text: string): string {
  const visible = text
    .replaceAll(ESCAPES, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROLS, '')
    .replaceAll(INVISIBLE, '');
  return (visible.includes(JOINER) ? visible.replaceAll(LOOSE_JOINER, '') : visible)
    .replaceAll(PILED_MARKS, '$1')
    .toWellFormed();
}

/** A Markdown code block whose fence is longer than any run of backticks in the text, so that the text is shown as it is. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}
