// Proves that the newest bytes of a command's output are kept, whole characters only, and that the rest is freed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NewestOutput } from '../../../src/processes/output/newest-output.ts';

function kept(limit: number, ...pieces: readonly string[]): [text: string, truncated: boolean] {
  const output = new NewestOutput(limit);
  for (const piece of pieces) output.push(Buffer.from(piece));
  return [output.text(), output.truncated];
}

it('keeps the end, and says that the beginning was dropped', () => {
  assert.deepEqual(kept(5), ['', false]);
  assert.deepEqual(kept(5, 'ab', 'cde'), ['abcde', false]);
  assert.deepEqual(kept(5, 'ab', 'cdef'), ['bcdef', true]);
  assert.deepEqual(kept(0, 'ab'), ['', true]);
});

it('leaves out a character that is cut in half, and none that is whole', () => {
  assert.deepEqual(kept(4, 'x漢字'), ['字', true]);
  assert.deepEqual(kept(3, 'x字'), ['字', true]);
  assert.deepEqual(kept(5, 'a🎋b'), ['🎋b', true]);
  assert.deepEqual(kept(4, 'a🎋b'), ['b', true]);
  // Nothing was cut: the command itself wrote a byte that begins no character.
  const output = new NewestOutput(9);
  output.push(Buffer.from([0x80, 0x61]));
  assert.equal(output.text(), '\ufffda');
});

it('output continues after its text was read', () => {
  const output = new NewestOutput(4);
  output.push(Buffer.from('abc'));
  assert.equal(output.text(), 'abc');
  output.push(Buffer.from('de'));
  assert.deepEqual([output.text(), output.truncated], ['bcde', true]);
});

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes of buffers that are still referenced, at most: unused ones are freed a while after a collection, by another thread. */
async function heldBytes(tries: number, enough = 0): Promise<number> {
  let bytes = Number.POSITIVE_INFINITY;
  for (let n = 0; n < tries && bytes > enough; n += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 10));
    bytes = Math.min(bytes, process.memoryUsage().arrayBuffers);
  }
  return bytes;
}

it('memory is bounded, however much output comes, in large chunks or small', {
  timeout: 60_000,
}, async () => {
  for (const size of [256 * 1024, 16]) {
    const output = new NewestOutput(1_000);
    const before = await heldBytes(3);
    for (let n = 0; n < 200; n += 1) output.push(Buffer.alloc(size, n));
    const held = (await heldBytes(200, before + 1024 * 1024 - 1)) - before;
    for (let n = 0; n < 10_000; n += 1) output.push(Buffer.from('x'));
    assert.ok(held < 1024 * 1024, `${held} bytes are held of pieces of ${size}`);
    assert.equal(output.text(), 'x'.repeat(1_000));
  }
});

it('many small pieces are joined now and then, not one by one', (t) => {
  const joins = t.mock.method(Buffer, 'concat').mock;
  const output = new NewestOutput(1_000);
  for (let n = 0; n < 10_000; n += 1) output.push(Buffer.alloc(100));
  assert.ok(joins.callCount() < 20, `${joins.callCount()} joins`);
});
