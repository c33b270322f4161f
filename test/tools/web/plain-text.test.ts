// Proves that the plain text of a page without a parser leaves out tags and scripts, also beside letters whose lower case is longer.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plainText } from '../../../src/tools/web/plain-text.ts';

it('leaves out tags, comments and scripts in any case, beside any letters', () => {
  const page = 'İİİ İstanbul <P>büyük</P><SCRIPT>if (a < b) İ();</Script><!-- İ --><b>İki</b> &AMP; a < b';
  assert.equal(plainText(page), 'İİİ İstanbul \nbüyük\nİki & a < b');
});
