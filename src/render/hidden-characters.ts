/** Legend for the notation, shown once below a text that uses it. */
export const SPELLED_NOTE = 'hidden characters are spelled as \\u{…}, long gaps as [… spaces]';

/** Characters that are invisible, look like a space, or reorder text; except line breaks, tabs and spaces. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{DI}\u2800]/gu;
const HIDDEN_RUN = /(?:(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{DI}\u2800]){24,}/gu;
/** Runs of spaces and tabs that are long enough to push what follows out of sight. */
const GAP = /[ \t]{24,}/g;
/** Runs of empty lines that are long enough to push what follows out of sight. */
const EMPTY_LINES = /(?:\n[ \t]*){5,}(?=\n|$)|^(?:[ \t]*\n){4,}/g;
/** Combining marks stacked on one character paint over neighbouring lines. */
const PILED_MARKS = /(\p{M}{4})(\p{M}+)/gu;

/** Returns a text that a person must judge, with every hidden character spelled out and without padding that could hide the rest. */
export function spellHidden(text: string): string {
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

/** As `spellHidden`, of a line of a difference, whose indentation stays: a page breaks its lines, so that spaces hide nothing. */
export function spellHiddenCode(line: string): string {
  const [indentation = ''] = /^[-+ ]?[ \t]*/.exec(line) ?? [];
  return indentation + spellHidden(line.slice(indentation.length));
}

/** Maximum characters spelled out for one line: more than any line that is shown. */
const LINE_MAX = 10_000;

/** As `spellHidden`, in one line of at most `most` characters, not counting the mark of a cut. */
export function spellHiddenLine(text: string, most: number): string {
  const line = spellHidden(cutMiddle(text, LINE_MAX)).replaceAll('\n', ' ⏎ ').replaceAll('\t', ' ').trim();
  return cutMiddle(line, most, Math.max(0, text.length - LINE_MAX));
}

/** Returns the beginning and end of the text, with the number of characters left out between them, plus `before` that were left out earlier. */
export function cutMiddle(text: string, most: number, before = 0): string {
  if (text.length <= most) return text;
  const head = cutText(text, Math.ceil((most * 2) / 3));
  const tail = endOfText(text, Math.floor(most / 3));
  const left_out = text.length - head.length - tail.length + before;
  return `${head.toWellFormed()}[… ${left_out} characters …]${tail.toWellFormed()}`;
}

/** Returns the first and last lines, with the line that `told` returns for the number of lines left out between them. */
export function cutLines<T>(lines: readonly T[], most: number, told: (left_out: number) => T): readonly T[] {
  if (lines.length <= most) return lines;
  const shown = Math.max(0, most - 1);
  const [head, tail] = [Math.ceil(shown / 2), Math.floor(shown / 2)];
  const left_out = lines.length - head - tail;
  return [...lines.slice(0, head), told(left_out), ...lines.slice(lines.length - tail)];
}

import { cutText, endOfText } from '../records/text/cut-text.ts';
