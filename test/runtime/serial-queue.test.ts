// Proves that work in a queue runs one at a time and in order, whatever became of the work before it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SerialQueue } from '../../src/runtime/serial-queue.ts';

it('work that fails holds up nothing, however often it fails', async () => {
  const queue = new SerialQueue();
  const ran: string[] = [];
  let at_work = 0;
  const work = (name: string, fails: boolean) =>
    queue.run(async () => {
      at_work += 1;
      assert.equal(at_work, 1, 'one at a time');
      await new Promise((resolve) => setImmediate(resolve));
      at_work -= 1;
      ran.push(name);
      if (fails) throw new Error(name);
      return name;
    });
  const all = await Promise.allSettled([work('a', true), work('b', true), work('c', false), work('d', true)]);
  assert.deepEqual(
    all.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason))),
    ['Error: a', 'Error: b', 'c', 'Error: d'],
  );
  assert.equal(await work('e', false), 'e');
  assert.deepEqual(ran, ['a', 'b', 'c', 'd', 'e']);
});
