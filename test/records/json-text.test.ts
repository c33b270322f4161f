// Proves the bounds of JSON from models and other programs, whose strings do not count as structure, and how texts are stored and excerpted.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isJsonObject, parseJson } from '../../src/records/text/json-text.ts';
import { excerpt, storable } from '../../src/records/text/text.ts';

const fault = (text: string): string | null => {
  const parsed = parseJson(text);
  return parsed.ok ? null : parsed.error;
};
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const list = (length: number) => `[${Array.from({ length }, () => 1).join()}]`;

it('JSON is refused just beyond its bounds', () => {
  assert.equal(fault(nested(128)), null);
  assert.equal(fault(nested(129)), 'it is nested deeper than 128 levels');
  assert.equal(fault(`["a", ${nested(128)}]`), 'it is nested deeper than 128 levels');
  assert.equal(fault(`[${nested(127)},${nested(127)}]`), null);
  assert.equal(fault(list(49_999)), null);
  assert.equal(fault(list(50_000)), 'it contains more than 50000 values');
  assert.equal(fault(`"${'x'.repeat(1_999_998)}"`), null);
  assert.equal(fault(`"${'x'.repeat(1_999_999)}"`), 'it has 2000001 characters; the maximum is 2000000');
});

it('signs in strings are no structure, wherever a string ends', () => {
  const signs = `${'[{'.repeat(200)}${',:'.repeat(50_000)}`;
  for (const text of [signs, `\\"${signs}`, `${signs}\\\\`, `\\\\\\"${signs}`])
    assert.equal(fault(`{"a": "${text}", "b": []}`), null);
  for (const text of ['"never ends', `"\\"${signs}`, '{"a": 1,}', ''])
    assert.match(fault(text) ?? '', /JSON/);
});

it('only objects are objects', () => {
  assert.deepEqual([{}, [], null, 'x'].map(isJsonObject), [true, false, false, false]);
});

it('a text keeps all that databases and providers can carry', () => {
  assert.deepEqual(['a🎋', 'a\ud83c', '\0'].map(storable), ['a🎋', 'a\ufffd', '\u2400']);
});

it('the beginning of a text stands on one line of sixty characters', () => {
  assert.equal(excerpt(' a\n b '), '"a b"');
  assert.equal(excerpt('x'.repeat(60)), `"${'x'.repeat(60)}"`);
  assert.equal(excerpt('x'.repeat(61)), `"${'x'.repeat(59)}…"`);
  assert.equal(excerpt(`${'x'.repeat(58)}🎋🎋`), `"${'x'.repeat(58)}…"`);
});
