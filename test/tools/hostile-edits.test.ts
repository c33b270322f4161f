// Proves that no file and no edit makes a patch take seconds: repetitive texts, many edits of a large file, long names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from '../../src/render/nearest-name.ts';
import { difference } from '../../src/tools/files/difference.ts';
import { editText, PLACES_MAX, placesOf } from '../../src/tools/files/edit-text.ts';

const DEEP = 'a'.repeat(2_000_000);
/** Upper bound in ms of CPU time; the engine's own search takes at least ten times as long. */
const PROMPT_MS = 1_000;

function promptly(what: () => unknown): void {
  const start = process.cpuUsage();
  what();
  const { user, system } = process.cpuUsage(start);
  assert.ok((user + system) / 1_000 < PROMPT_MS, `took ${(user + system) / 1_000} ms of the processor`);
}

test('occurrences are those that a plain search finds', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^(?:[ab]{0,9}|a{6,14}b){0,8}$/),
      fc.stringMatching(/^(?:[ab]{1,12}|a{7,12}b)$/),
      (text, wanted) => {
        const plain = [...text].flatMap((_, at) => (text.startsWith(wanted, at) ? [at] : []));
        assert.deepEqual(placesOf(text, wanted), plain);
      },
    ),
  );
  assert.equal(placesOf(DEEP, 'a').length, PLACES_MAX);
});

test('texts of repetitions', () => {
  const wanted = `${'a'.repeat(20_000)}b${'a'.repeat(20_000)}`;
  promptly(() => assert.throws(() => editText(DEEP, [{ old_text: wanted, new_text: '' }]), /not found/));
  promptly(() =>
    assert.throws(
      () => editText(DEEP, [{ old_text: 'a'.repeat(20_000), new_text: '' }]),
      /found 100 or more times/,
    ),
  );
});

test('a difference in white space only is reported for small files, and not searched for in large ones', () => {
  const edit = [{ old_text: 'one  two', new_text: '' }];
  assert.throws(() => editText('one two\n', edit), /only white space differs; the nearest is line 1/);
  const lines = '\n'.repeat(2_000_000);
  assert.throws(() => editText(`one two${lines}`, edit), /not found; the nearest is line 1/);
});

test('text that is not in a large file is not searched character by character', () => {
  const before = process.cpuUsage();
  for (let times = 0; times < 50; times += 1)
    assert.throws(() => editText(DEEP, [{ old_text: `${'b'.repeat(20)}`, new_text: '' }]), /not found/);
  // Character by character it would take a second; the engine's search takes a twentieth of that.
  assert.ok(process.cpuUsage(before).user < 500_000);
});

test('many edits of a large file', () => {
  const edits = Array.from({ length: 200 }, () => ({ old_text: 'b', new_text: 'c' }));
  promptly(() => assert.throws(() => editText(DEEP, edits), /make several calls/));
  const most = `a${' '.repeat(1_249_999)}`;
  const two = ['b', 'c'].map((new_text, at) => ({ old_text: at === 0 ? 'a' : 'b', new_text }));
  assert.equal(editText(most, two)[0], 'c');
  assert.throws(() => editText(`${most} `, two), /make several calls/);
});

test('a long name has no nearest name', () => {
  promptly(() => assert.equal(nearestName(DEEP, Array(50).fill('subagent_delegate')), null));
});

test('texts that are too large are not compared', () => {
  assert.equal(difference('a', '', '\n'.repeat(30_000)), null);
  assert.equal(difference('a', DEEP, `${DEEP}b`), null);
  assert.match(difference('a', 'one\n'.repeat(5_000), `${'one\n'.repeat(5_000)}two\n`) ?? '', /^\+two$/m);
});

test('a few changed lines are compared, however busy the machine is', (t) => {
  let now = 0;
  t.mock.method(Date, 'now', () => {
    now += 1_000;
    return now;
  });
  assert.match(difference('a', 'one\ntwo\n', 'one\n2\n') ?? '', /^-two\n\+2$/m);
});
