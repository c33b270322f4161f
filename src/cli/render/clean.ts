const ESCAPES =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])?/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Direction marks, overrides and isolates, zero-width characters, and the byte order mark. */
const INVISIBLE = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** One line of foreign text for a terminal: escape sequences, control and direction characters are gone. */
export function clean(text: string): string {
  return cleanLines(text).replaceAll(/[\n\t]+/g, ' ');
}

/** The same for text of several lines. */
export function cleanLines(text: string): string {
  return text
    .replaceAll(ESCAPES, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROLS, '')
    .replaceAll(INVISIBLE, '')
    .toWellFormed();
}
