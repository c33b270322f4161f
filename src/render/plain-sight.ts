/** What stands where something invisible was; said once below a text that holds any. */
export const SPELLED_NOTE = 'hidden characters are spelled as \\u{…}, long gaps as [… spaces]';

/** Characters that are not seen, look like a space and are none, or turn the order of what is seen. Line breaks, tabs and spaces are seen. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{DI}\u2800]/gu;
const HIDDEN_RUN = /(?:(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{DI}\u2800]){24,}/gu;
/** More of it in one place pushes what follows out of sight. */
const GAP = /[ \t]{24,}/g;
/** Lines in which nothing stands, likewise. */
const EMPTY_LINES = /(?:\n[ \t]*){5,}(?=\n|$)|^(?:[ \t]*\n){4,}/g;
/** Marks piled up on one character paint over the lines around it. */
const PILED_MARKS = /(\p{M}{4})(\p{M}+)/gu;

/** A text that a person must judge: every character of it can be seen, and padding hides nothing of it. */
export function inPlainSight(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(PILED_MARKS, (_, few: string, more: string) => `${few}[${[...more].length} more marks]`)
    .replaceAll(HIDDEN_RUN, (run) => `[${[...run].length} hidden characters]`)
    .replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`)
    .replaceAll(EMPTY_LINES, (run) => {
      const [before, after] = run.startsWith('\n') ? ['\n', ''] : ['', '\n'];
      const lines = run.split('\n').length - 1;
      return `${before}[${lines} empty lines]${after}`;
    })
    .replaceAll(GAP, (run) => `[${run.length} ${run.includes('\t') ? 'blanks' : 'spaces'}]`);
}

/** More than what anybody is shown in one line. */
const LINE_MAX = 10_000;

/** The same, on one line of so many characters. */
export function inOneLine(text: string, most: number): string {
  const line = inPlainSight(cutMiddle(text, LINE_MAX)).replaceAll('\n', ' ⏎ ').replaceAll('\t', ' ').trim();
  return cutMiddle(line, most, Math.max(0, text.length - LINE_MAX));
}

/** Its first and its last characters, and between them how many are left out, with those that were left out there before. */
export function cutMiddle(text: string, most: number, before = 0): string {
  if (text.length <= most) return text;
  const head = text.slice(0, Math.ceil((most * 2) / 3));
  const tail = text.slice(text.length - Math.floor(most / 3));
  const left_out = text.length - head.length - tail.length + before;
  return `${head.toWellFormed()}[… ${left_out} characters …]${tail.toWellFormed()}`;
}

/** The first and the last of many lines, and between them what `told` says of those left out. */
export function cutLines<T>(lines: readonly T[], most: number, told: (left_out: number) => T): readonly T[] {
  if (lines.length <= most) return lines;
  const shown = Math.max(0, most - 1);
  const [head, tail] = [Math.ceil(shown / 2), Math.floor(shown / 2)];
  const left_out = lines.length - head - tail;
  return [...lines.slice(0, head), told(left_out), ...lines.slice(lines.length - tail)];
}
