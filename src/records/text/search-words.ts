/*
 * What a search finds, the same on every database and in a browser: words are runs of letters and digits, without regard to case and accents; of scripts that
 * do not separate words, each sign is one.
 */

/** What is longer is no word, and both databases refuse it at some length. */
const WORD_MAX = 64;
const SINGLE_SIGNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

export function searchWords(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.replaceAll(SINGLE_SIGNS, ' $& ').match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => word.slice(0, WORD_MAX));
}

/** The phrases of what a person searches for: words in double quotes, and what stands between blanks (`src/db.ts` is the phrase "src db ts"). */
export function searchPhrases(query: string): string[][] {
  const parts = query.match(/"[^"]*"?|[^\s"]+/g) ?? [];
  return parts.map(searchWords).filter((words) => words.length > 0);
}

/** Finds the phrases in a text as it was written, for highlighting; accents count. Null if there is nothing to find. */
export function phrasePattern(phrases: readonly (readonly string[])[]): RegExp | null {
  const parts = phrases.map((words) => words.join('[^\\p{L}\\p{N}]*'));
  return parts.length === 0 ? null : new RegExp(parts.join('|'), 'giu');
}
