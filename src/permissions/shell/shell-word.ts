import type { Assignment, DoubleQuotedChild, Word, WordPart } from 'unbash';

/** Placeholders for text known only at run time: `ANY` within one word, `MANY` split into any number of words. */
export const ANY = '\0';
export const MANY = '\x01';

/** Whether the whole text of a word is known. */
export function isKnown(word: string): boolean {
  return !word.includes(ANY) && !word.includes(MANY);
}

/** Whether a word may expand to several words, or none. */
export function maySplit(word: string): boolean {
  return word.includes(MANY);
}

/** A word as the program receives it: without quotes, expansions replaced by `ANY` and `MANY`. */
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
  // "$@" and "${a[@]}" become one word per element.
  return /^\$\{?[#!]?\w*(\[)?@/.test(part.text) ? MANY : ANY;
}

/** Whether some expansion of the placeholders makes `text` match; `*` in the pattern matches any text. */
export function mayMatch(pattern: string, text: string): boolean {
  // Dynamic programming by rows: can the pattern up to here match the text up to each position?
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
