/** Proves that what differs between two runs of the same work is masked, also an id that consists of letters. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { maskedText } from '../../src/records/text/masked-text.ts';

it('masks ids, also short ones, whether they have digits or not, and leaves words', () => {
  for (const id of ['0a1b2c3d', 'aacfbebe', '12345678', 'b31c0f52-4a3e-4f0f-9a51-3f0a2a1c9d10'])
    assert.equal(maskedText(`--- ${id} end`, []), '--- <id> end', id);
  for (const word of ['facade', 'decades', 'something', 'aacfbebes'])
    assert.equal(maskedText(word, []), word);
});
