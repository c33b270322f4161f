// Proves that untrusted text is rendered as plain text: without escape sequences, control characters, invisible or direction-changing
// characters, or combining marks that overwrite other lines; and that ordinary text is unchanged.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clean, cleanLines } from '../../src/render/clean.ts';

const ESC = '\u001b';
const SEQUENCES: readonly (readonly [string, string])[] = [
  ['a colour', `${ESC}[1;31m`],
  ['the screen cleared', `${ESC}[2J${ESC}[H`],
  ['a private mode', `${ESC}[?1049h`],
  ['a window title', `${ESC}]0;pwned\u0007`],
  ['a link', `${ESC}]8;;https://example.org${ESC}\\`],
  ['the clipboard', `${ESC}]52;c;cHduZWQ=\u0007`],
  ['a device string', `${ESC}P1$r0m${ESC}\\`],
  ['an application command', `${ESC}_Gpwned${ESC}\\`],
  ['a reset', `${ESC}c`],
  ['another character set', `${ESC}(0`],
];

describe('foreign text as it is drawn', () => {
  for (const [what, sequence] of SEQUENCES)
    it(`${what} is gone, whole`, () => {
      assert.equal(cleanLines(`before${sequence}after`), 'beforeafter');
      assert.equal(clean(`before${sequence}after`), 'beforeafter');
    });

  it('one control character by itself is gone, also of those above ASCII', () => {
    for (const control of ['\u0000', '\u0007', '\b', '\r', '\u007f', '\u0085', '\u009b', '\u009d'])
      assert.equal(cleanLines(`be${control}fore`), 'before', JSON.stringify(control));
  });

  it('invisible characters and those that change the order of others are gone', () => {
    for (const hidden of ['\u200b', '\u200f', '\u202e', '\u2066', '\u2069', '\ufeff', '\u{e0041}'])
      assert.equal(cleanLines(`pay${hidden}load`), 'payload', JSON.stringify(hidden));
  });

  it('a joiner is kept within a picture that it makes, and gone everywhere else', () => {
    for (const picture of ['👩‍👩‍👧', '👩🏽‍🚀', '❤️‍🔥', '🏴‍☠️'])
      assert.equal(cleanLines(`a ${picture} b`), `a ${picture} b`);
    assert.equal(cleanLines('a\u200db \u200d👩 👩\u200d x \u200d\u200d'), 'ab 👩 👩 x ');
  });

  it('marks are not piled up, half characters are made whole, and one line is one line of bounded length', () => {
    assert.equal(cleanLines(`a${'\u0301'.repeat(50)}b`), `a${'\u0301'.repeat(4)}b`);
    assert.equal(cleanLines('\ud800'), '\ufffd');
    assert.equal(clean(' one\n\ttwo '), 'one two');
    assert.ok(clean('x'.repeat(1_000_000)).length <= 4_000);
  });

  it('what people write stays unchanged', () => {
    const text = 'naïve 漢字 🎋 שלום مرحبا e\u0301\n\ttabs and "quotes" \\ [31m';
    assert.equal(cleanLines(text), text);
  });

  it('whatever comes, nothing that a terminal would act on is left', () => {
    const piece = fc.constantFrom(
      ESC,
      '[',
      ']',
      '31m',
      '\u0007',
      '\\',
      ';',
      '\u009b',
      '\u202e',
      'x',
      '\n',
      'P',
      '?',
    );
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (foreign) => {
        const drawn = cleanLines(foreign).replaceAll('\n', '').replaceAll('\t', '');
        assert.doesNotMatch(drawn, /[\p{Cc}\u202e]/u);
      }),
      { numRuns: 1_000 },
    );
  });
});
