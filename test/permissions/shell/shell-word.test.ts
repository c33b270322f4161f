/** Proves that a pattern may match a word if and only if some text for the word's unknown parts makes it match. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY, isKnown, MANY, mayMatch } from '../../../src/permissions/shell/shell-word.ts';

/** All texts of up to three letters from `a` and `b`. */
const texts = ['', 'a', 'b', 'ab', 'ba', 'aa', 'bb'].flatMap((text) => [text, `${text}a`, `${text}b`]);

/** Every word that results when one of the texts replaces each unknown part. */
function words(word: string): readonly string[] {
  const at = [...word].findIndex((one) => !isKnown(one));
  if (at === -1) return [word];
  return words(word.slice(at + 1)).flatMap((rest) => texts.map((text) => word.slice(0, at) + text + rest));
}

test('a pattern may match what some expansion makes it match', () => {
  const piece = fc.constantFrom('a', 'b', 'a', 'b', ANY, MANY);
  const word = fc.array(piece, { maxLength: 4 }).filter((all) => all.filter((one) => one < ' ').length < 3);
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 3 });
  const property = fc.property(pattern, word, (wanted, parts) => {
    const matches = new RegExp(`^${wanted.replaceAll('*', '.*')}$`);
    assert.equal(
      mayMatch(wanted, parts.join('')),
      words(parts.join('')).some((one) => matches.test(one)),
    );
  });
  fc.assert(property, { numRuns: 1_000 });
});
