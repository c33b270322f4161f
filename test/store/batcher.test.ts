// Proves group commit of single calls: calls made at the same time or during a batch share the next one, in order; batches never overlap; a failure
// rejects only its own batch.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Batcher } from '../../src/store/ledger/batcher.ts';

it('batches calls made at once, and those made meanwhile in the next batch', async () => {
  const batches: (readonly number[])[] = [];
  let [open, under_way] = [() => {}, 0];
  const batcher = new Batcher<number, string>(async (inputs) => {
    batches.push(inputs);
    under_way += 1;
    assert.equal(under_way, 1);
    await new Promise<void>((resolve) => (open = resolve));
    under_way -= 1;
    return inputs.map((n) => `did ${n}`);
  });
  const first = [batcher.add(1), batcher.add(2)];
  await new Promise((resolve) => setImmediate(resolve));
  const second = [batcher.add(3), batcher.add(4), batcher.add(5)];
  assert.deepEqual(batches, [[1, 2]]);
  open();
  assert.deepEqual(await Promise.all(first), ['did 1', 'did 2']);
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4, 5],
  ]);
  open();
  assert.deepEqual(await Promise.all(second), ['did 3', 'did 4', 'did 5']);
});

it('splits batches at their maximum size and loses no call', async () => {
  const sizes: number[] = [];
  const batcher = new Batcher<number, number>(async (inputs) => {
    sizes.push(inputs.length);
    return inputs;
  });
  const numbers = Array.from({ length: 450 }, (_, n) => n);
  assert.deepEqual(await Promise.all(numbers.map((n) => batcher.add(n))), numbers);
  assert.deepEqual(sizes, [200, 200, 50]);
});

it('a failing batch rejects its own calls; the next batch succeeds', async () => {
  const batcher = new Batcher<string, string>(async (inputs) => {
    if (inputs.includes('bad')) throw new Error('no');
    return inputs;
  });
  const results = await Promise.allSettled([batcher.add('good'), batcher.add('bad')]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await batcher.add('good'), 'good');
});
