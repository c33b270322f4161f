// Proves that a cut text is never longer than asked for, keeps as much as fits, and is cut only between what people see as characters.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { cutText, endOfText } from '../../src/records/text/cut-text.ts';

const FAMILY = '👩‍👩‍👧';
const pieces = fc.array(
  fc.constantFrom(
    'a',
    ' ',
    'é',
    'e\u0301',
    '世',
    '😀',
    FAMILY,
    '🇩🇪',
    '\r\n',
    '\n',
    '\u05d0',
    'ห\u0e31',
    '\ud83d',
    '👍🏽',
  ),
  { maxLength: 40 },
);
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const boundaries = (text: string) =>
  new Set([...segmenter.segment(text)].map(({ index }) => index).concat(text.length));

describe('a cut text', () => {
  it('ends, or begins, between graphemes, as near to the limit as they allow', () => {
    fc.assert(
      fc.property(pieces, fc.nat(60), (parts, max) => {
        const text = parts.join('');
        const ends = [...boundaries(text)];
        const head = cutText(text, max);
        assert.ok(
          text.startsWith(head) && head.length === Math.max(...ends.filter((at) => at <= max)),
          JSON.stringify([text, max, head]),
        );
        const tail = endOfText(text, max);
        const from = text.length - tail.length;
        assert.ok(
          text.endsWith(tail) && from === Math.min(...ends.filter((at) => at >= text.length - max)),
          JSON.stringify([text, max, tail]),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('has its mark within the limit, and none if nothing is cut', () => {
    assert.equal(cutText('abcdef', 4, '…'), 'abc…');
    assert.equal(cutText('abcd', 4, '…'), 'abcd');
    assert.equal(cutText(`ab${FAMILY}`, 6, '…'), 'ab…');
    assert.equal(cutText('abc', 0), '');
    assert.equal(endOfText('abc', 0), '');
  });

  it('is cut within one grapheme without end, but not within a pair of surrogates', () => {
    const pile = `😀${'\u0301'.repeat(300)}`;
    assert.equal(cutText(pile, 200).length, 200);
    assert.ok(cutText('😀'.repeat(200), 101).isWellFormed());
    assert.ok(cutText('\u200d😀'.repeat(100), 101).isWellFormed());
  });
});
