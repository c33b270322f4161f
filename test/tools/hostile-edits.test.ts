// Proves that no file and no edit that a model writes makes a patch search for seconds: texts of repetitions, many edits of a large file, long names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from '../../src/render/nearest-name.ts';
import { difference } from '../../src/tools/difference.ts';
import { editText } from '../../src/tools/edit-text.ts';
import { PLACES_MAX, placesOf } from '../../src/tools/places-of.ts';

const LONG = 'a'.repeat(2_000_000);
/** Searching as the engine does takes ten times as much, and more. */
const PROMPT_MS = 1_000;

function promptly(what: () => unknown): void {
  const start = process.cpuUsage();
  what();
  const { user, system } = process.cpuUsage(start);
  assert.ok((user + system) / 1_000 < PROMPT_MS, `took ${(user + system) / 1_000} ms of the processor`);
}

test('places are those that a plain search finds', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab]{0,40}$/), fc.stringMatching(/^[ab]{1,6}$/), (text, wanted) => {
      const plain = [...text].flatMap((_, at) => (text.startsWith(wanted, at) ? [at] : []));
      assert.deepEqual(placesOf(text, wanted), plain);
    }),
  );
  assert.equal(placesOf(LONG, 'a').length, PLACES_MAX);
});

test('texts of repetitions', () => {
  const wanted = `${'a'.repeat(20_000)}b${'a'.repeat(20_000)}`;
  promptly(() => assert.throws(() => editText(LONG, [{ old_text: wanted, new_text: '' }]), /not found/));
  promptly(() =>
    assert.throws(
      () => editText(LONG, [{ old_text: 'a'.repeat(20_000), new_text: '' }]),
      /found 100 or more times/,
    ),
  );
});

test('many edits of a large file', () => {
  const edits = Array.from({ length: 200 }, () => ({ old_text: 'b', new_text: 'c' }));
  promptly(() => assert.throws(() => editText(LONG, edits), /make several calls/));
});

test('a long name is like none', () => {
  promptly(() => assert.equal(nearestName(LONG, Array(50).fill('subagent_delegate')), null));
});

test('what is too large to be compared is not compared', () => {
  assert.equal(difference('a', '', '\n'.repeat(30_000)), null);
  assert.equal(difference('a', LONG, `${LONG}b`), null);
  assert.match(difference('a', 'one\n'.repeat(5_000), `${'one\n'.repeat(5_000)}two\n`) ?? '', /^\+two$/m);
});
