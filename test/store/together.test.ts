// Proves what is done together: what comes at one moment or while others are under way, in order, never two goes at once, and a failure only for those in it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Together } from '../../src/store/ledger/together.ts';

it('does what comes at once in one go, and what comes meanwhile in the next', async () => {
  const goes: (readonly number[])[] = [];
  let [open, under_way] = [() => {}, 0];
  const together = new Together<number, string>(async (inputs) => {
    goes.push(inputs);
    under_way += 1;
    assert.equal(under_way, 1);
    await new Promise<void>((resolve) => (open = resolve));
    under_way -= 1;
    return inputs.map((n) => `did ${n}`);
  });
  const first = [together.do(1), together.do(2)];
  await new Promise((resolve) => setImmediate(resolve));
  const second = [together.do(3), together.do(4), together.do(5)];
  assert.deepEqual(goes, [[1, 2]]);
  open();
  assert.deepEqual(await Promise.all(first), ['did 1', 'did 2']);
  assert.deepEqual(goes, [
    [1, 2],
    [3, 4, 5],
  ]);
  open();
  assert.deepEqual(await Promise.all(second), ['did 3', 'did 4', 'did 5']);
});

it('takes no more than so many in one go, and forgets none', async () => {
  const sizes: number[] = [];
  const together = new Together<number, number>(async (inputs) => {
    sizes.push(inputs.length);
    return inputs;
  });
  const numbers = Array.from({ length: 450 }, (_, n) => n);
  assert.deepEqual(await Promise.all(numbers.map((n) => together.do(n))), numbers);
  assert.deepEqual(sizes, [200, 200, 50]);
});

it('a go that fails fails for those in it; the next one is done', async () => {
  const together = new Together<string, string>(async (inputs) => {
    if (inputs.includes('bad')) throw new Error('no');
    return inputs;
  });
  const results = await Promise.allSettled([together.do('good'), together.do('bad')]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await together.do('good'), 'good');
});
