import type { Assignment, DoubleQuotedChild, Word, WordPart } from 'unbash';

/** Stands in a word for text that only the shell will know: within one word, or split into any number of them. */
export const ANY = '\0';
export const MANY = '\x01';

/** All of its text is known. */
export function isKnown(word: string): boolean {
  return !word.includes(ANY) && !word.includes(MANY);
}

/** It may become several words, or none. */
export function maySplit(word: string): boolean {
  return word.includes(MANY);
}

/** What a program sees of a word: quotes taken off, expansions replaced by `ANY` and `MANY`. */
export function wordText(word: Word): string {
  if (word.parts === undefined) return word.value;
  return word.parts.map(partText).join('');
}

export function assignmentText({ name, append, value }: Assignment): string {
  const text = value.type === 'Word' ? wordText(value).replaceAll(MANY, ANY) : ANY;
  return `${name}${append === true ? '+' : ''}=${text}`;
}

function partText(part: WordPart): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted':
      return part.parts.map(quotedText).join('');
    case 'LocaleString':
    case 'ProcessSubstitution':
      return ANY;
    default:
      return MANY;
  }
}

function quotedText(part: DoubleQuotedChild): string {
  if (part.type === 'Literal') return part.value;
  // "$@" and "${a[@]}" are as many words as they have members.
  return /^\$\{?[#!]?\w*(\[)?@/.test(part.text) ? MANY : ANY;
}

/** True when some text that the shell may put for what is unknown makes `text` match; `*` in the pattern is any text. */
export function mayMatch(pattern: string, text: string): boolean {
  // Row by row: can the pattern up to here match the text up to each place?
  let row = Array.from({ length: text.length + 1 }, () => false);
  row[0] = true;
  for (let at = 1; at <= text.length && !isKnown(text[at - 1]!); at += 1) row[at] = true;
  for (const character of pattern) {
    const next = [character === '*' ? row[0]! : false];
    for (let at = 1; at <= text.length; at += 1) {
      const here = text[at - 1]!;
      if (!isKnown(here)) next.push(next[at - 1]! || row[at]! || row[at - 1]!);
      else if (character === '*') next.push(row[at]! || next[at - 1]!);
      else next.push(character === here && row[at - 1]!);
    }
    row = next;
  }
  return row[text.length]!;
}
