import type { Assignment, DoubleQuotedChild, Word, WordPart } from 'unbash';

/** Placeholders for text known only at run time: `ANY` within one word, `MANY` split into any number of words. */
export const ANY = '\0';
export const MANY = '\x01';
/** Placeholder for any text that the name of a file completes; such a word stands for the files that it matches. */
export const GLOB = '\x02';
/** Begin, comma and end of a brace expansion. */
const BRACES: Readonly<Record<string, string>> = { '{': '\x03', ',': '\x04', '}': '\x05' };
/** Maximum words that braces in one word expand to. */
const alternatives_max = 256;

/** Whether the whole text of a word is known. */
export function isKnown(word: string): boolean {
  return !/[\0-\x05]/.test(word);
}

/** Whether a word may expand to several words, or none. */
export function maySplit(word: string): boolean {
  return /[\x01-\x05]/.test(word);
}

/** The word with `MANY` for each glob and each brace expansion. */
export function withoutShapes(word: string): string {
  return word.replaceAll(/\x03.*\x05|[\x02-\x05]/gs, MANY);
}

/** The words that braces expand to, in any order; null if there are too many. */
export function alternatives(word: string): readonly string[] | null {
  const found: string[] = [];
  const left = [word];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const group = /\x03([^\x03\x05]*)\x05/.exec(one);
    const inside = group?.[1]?.split('\x04') ?? [];
    if (found.length + left.length + inside.length >= alternatives_max) return null;
    if (group === null) found.push(one);
    // A sequence such as `{1..9}` has no comma.
    for (const text of inside.length === 1 ? [GLOB] : inside) left.push(one.replace(group![0], () => text));
  }
  return found;
}

/** A word as the program receives it: without quotes, expansions replaced by `ANY` and `MANY`. */
export function wordText(word: Word): string {
  if (word.parts === undefined) return word.value;
  return word.parts.map(partText).join('');
}

export function assignmentText({ name, append, value }: Assignment): string {
  const text = value.type === 'Word' ? withoutShapes(wordText(value)).replaceAll(MANY, ANY) : ANY;
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
    case 'Glob':
      return GLOB;
    case 'BraceExpansion':
      return part.parts === undefined
        ? braceText(part.text)
        : `\x03${part.parts.map(bracePartText).join('')}\x05`;
    default:
      return MANY;
  }
}

function bracePartText(part: WordPart): string {
  return part.type === 'Literal' ? braceText(part.text) : partText(part);
}

function braceText(raw: string): string {
  return raw.replaceAll(/\\(.)|[{,}]/gs, (one, escaped: string | undefined) => escaped ?? BRACES[one]!);
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
