/**
 * Proves that slots go to a tree's callers in order of arrival and to trees in turn, that a tree that holds none gets one beyond the count, that an
 * aborted waiter leaves the queue, and that no slot is lost in any order of events.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairSlots } from '../../src/processes/fair-slots.ts';
import { Random } from '../sim/random.ts';

const never = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('in a tree: first come, first served', async () => {
  const slots = new FairSlots({ count: 1 });
  const order: number[] = [];
  assert.equal(await slots.acquire('a', never), true);
  const waiting = [1, 2, 3].map(async (name) => {
    assert.equal(await slots.acquire('a', never), true);
    order.push(name);
    slots.release('a');
  });
  assert.deepEqual(order, []);
  slots.release('a');
  await Promise.all(waiting);
  assert.deepEqual(order, [1, 2, 3]);
  assert.equal(await slots.acquire('a', never), true);
});

test('trees in turn: a thousand callers of one hold up another one for one slot', async () => {
  const slots = new FairSlots({ count: 2 });
  const order: string[] = [];
  const callers = [...Array.from({ length: 1_000 }, () => 'many'), 'few', 'few', 'one'];
  const done = callers.map(async (tree) => {
    assert.equal(await slots.acquire(tree, never), true);
    order.push(tree);
    await turn();
    slots.release(tree);
  });
  await Promise.all(done);
  assert.deepEqual(order.slice(0, 8), ['many', 'many', 'many', 'few', 'one', 'many', 'few', 'many']);
  assert.equal(order.length, callers.length);
});

test('a tree that holds none gets one beyond the count, up to the most', async () => {
  const slots = new FairSlots({ count: 2, most: 4 });
  const got: string[] = [];
  const ask = (tree: string) => void slots.acquire(tree, never).then(() => got.push(tree));
  for (const tree of ['a', 'a', 'a', 'b', 'b', 'c', 'd']) ask(tree);
  await turn();
  assert.deepEqual(got, ['a', 'a', 'b', 'c']);
  // Below the maximum again, so the tree that holds no slot gets one.
  slots.release('a');
  await turn();
  assert.deepEqual(got.slice(4), ['d']);
  slots.release('b');
  await turn();
  assert.deepEqual(got.slice(5), ['b'], 'it holds none now');
  slots.release('c');
  slots.release('d');
  await turn();
  assert.deepEqual(got.slice(6), [], 'two are at work, and nobody has none');
  slots.release('b');
  await turn();
  assert.deepEqual(got.slice(6), ['a']);
});

test('an abort while waiting gives false and no slot is lost', async () => {
  const slots = new FairSlots({ count: 1 });
  await slots.acquire('a', never);
  const leaving = new AbortController();
  const left = slots.acquire('b', leaving.signal);
  const stayed = slots.acquire('a', never);
  leaving.abort();
  assert.equal(await left, false);
  assert.equal(slots.waiting, 1);
  slots.release('a');
  assert.equal(await stayed, true);
  assert.equal(await slots.acquire('b', leaving.signal), false);
});

test('in any order of events, nobody waits for a slot that is free, and none is held too many', async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = new Random(`slots ${seed}`);
    const [count, most] = [random.between(1, 3), random.between(3, 5)];
    const slots = new FairSlots({ count, most });
    const trees = ['a', 'b', 'c', 'd'];
    const held: string[] = [];
    const waiting = new Map<AbortController, string>();
    const see = (place: string) => {
      const idle = [...waiting.values()].filter(
        (tree) => held.length < count || (held.length < most && !held.includes(tree)),
      );
      assert.deepEqual(idle, [], `seed ${seed} ${place}`);
      assert.ok(held.length <= most && slots.waiting === waiting.size, `seed ${seed} ${place}`);
    };
    for (let step = 0; step < 60; step += 1) {
      const what = random.between(0, 3);
      if (what <= 1) {
        const tree = random.pick(trees);
        const controller = new AbortController();
        waiting.set(controller, tree);
        void slots.acquire(tree, controller.signal).then((taken) => {
          waiting.delete(controller);
          if (taken) held.push(tree);
        });
      } else if (what === 2 && held.length > 0) {
        slots.release(held.splice(random.between(0, held.length - 1), 1)[0] as string);
      } else if (waiting.size > 0) random.pick([...waiting.keys()]).abort();
      await turn();
      see(`step ${step}`);
    }
    while (held.length > 0 || waiting.size > 0) {
      slots.release(held.pop() as string);
      await turn();
      see('at the end');
    }
  }
});
