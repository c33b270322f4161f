// Proves that output is kept exactly, however it is chunked: all of it, or its beginning and its end.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  HEAD_BYTES,
  LIVE_BYTES,
  OutputCapture,
  TAIL_BYTES,
} from '../../../src/processes/output/output-capture.ts';
import { makeWorkspace } from '../../tools/tool-fixture.ts';

/** Consecutive numbers, so that every position in the text is unique. */
const TEXT = Array.from({ length: 20_000 }, (_, place) => `${place}\n`).join('');
const KEPT = HEAD_BYTES + TAIL_BYTES;

test('whatever the chunk sizes: head, tail, and the whole in a file', () => {
  const { spill_dir } = makeWorkspace();
  const sizes = fc.array(fc.integer({ min: 1, max: 3 * KEPT }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: TEXT.length }), (pieces, length) => {
      const whole = TEXT.slice(0, length);
      const capture = new OutputCapture(spill_dir, () => {});
      for (let at = 0, turn = 0; at < length; turn += 1) {
        const size = pieces[turn % pieces.length] as number;
        capture.push(Buffer.from(whole.slice(at, at + size)));
        at += size;
      }
      const text = capture.finish();
      if (length <= KEPT) return assert.equal(text, whole);
      const [head, note, tail] = text.split(/\n(\[… .* …\])\n/s);
      assert.equal(head, whole.slice(0, HEAD_BYTES));
      assert.equal(tail, whole.slice(-TAIL_BYTES));
      assert.match(note ?? '', new RegExp(`^\\[… ${length - KEPT} of ${length} bytes left out; `));
      const file = /\/[^;\]]*\.\w+/.exec(note ?? '')?.[0] ?? '';
      assert.equal(readFileSync(file, 'utf8'), whole);
    }),
    { numRuns: 60 },
  );
});

test('what comes too fast is counted instead of shown, and no character of it is left over', (t) => {
  let now_ms = 10_000;
  t.mock.method(performance, 'now', () => now_ms);
  const { spill_dir, live, onOutput } = makeWorkspace();
  const capture = new OutputCapture(spill_dir, onOutput);
  const shown = 'x'.repeat(LIVE_BYTES - 1);
  const begun = Buffer.from('漢').subarray(0, 1);
  for (const piece of [shown, begun, 'too']) capture.push(Buffer.from(piece));
  now_ms += 1000;
  capture.push(Buffer.from('much'));
  now_ms += 1;
  for (const piece of ['then', 'on']) capture.push(Buffer.from(piece));
  capture.finish();
  assert.deepEqual(live, [shown, '\n[… 7 bytes not shown …]\n', 'then', 'on']);
});

test('a cut leaves whole characters on both sides, as many as there is room for', () => {
  const { spill_dir } = makeWorkspace();
  for (const character of ['y', 'é', '€', 'ह', '🎋'])
    for (const shift of [0, 1, 2, 3]) {
      const capture = new OutputCapture(spill_dir, () => {});
      capture.push(Buffer.from('x'.repeat(shift) + character.repeat(KEPT + 1)));
      const [head, tail] = capture.finish().split(/\n\[… .* …\]\n/s);
      const fit = (bytes: number) => character.repeat(Math.floor(bytes / Buffer.byteLength(character)));
      assert.ok(head === 'x'.repeat(shift) + fit(HEAD_BYTES - shift), `${shift} ${character}: head`);
      assert.ok(tail === fit(TAIL_BYTES), `${shift} ${character}: tail`);
    }
});

test('the text so far has the line that is not over, and output continues after it', () => {
  const { spill_dir } = makeWorkspace();
  const capture = new OutputCapture(spill_dir, () => {});
  capture.push(Buffer.from('one\ntw'));
  assert.deepEqual([capture.soFar(), capture.soFar()], ['one\ntw', 'one\ntw']);
  capture.push(Buffer.from('o\n'));
  assert.equal(capture.finish(), 'one\ntwo\n');
});
