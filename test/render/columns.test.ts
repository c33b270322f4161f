// Proves that the fast column count equals that of the library `string-width`, for our own symbols and for any text; and that `clean` equals the slow path.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { clean, cleanLines } from '../../src/render/clean.ts';
import { columnsOf } from '../../src/render/style.ts';

it('counts as the library does', () => {
  const sign = fc.constantFrom(...'─━│┌┐└┘├┤┬┴┼╭╮╰╯┆⠋⠙⠹⣿↑↓←→·…–›•●○◌◐◔▸✓✗✎»aZ~ ');
  const any = fc.oneof(sign, fc.string({ unit: 'grapheme', maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(any, { maxLength: 20 }), (parts) => {
      const text = clean(parts.join(''));
      assert.equal(columnsOf(text), stringWidth(text), JSON.stringify(text));
    }),
    { numRuns: 1_000 },
  );
});

it('cleans plain text to what the long way makes of it', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      assert.equal(
        clean(text),
        cleanLines(text)
          .replaceAll(/[\n\t]+/g, ' ')
          .trim(),
      );
    }),
  );
});
