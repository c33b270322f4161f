/** Proves that slots are granted in order of arrival, that an aborted waiter leaves the queue, and that no slot is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessSlots } from '../../src/processes/process-slots.ts';

const never = new AbortController().signal;

test('first come, first served', async () => {
  const slots = new ProcessSlots(1);
  const order: number[] = [];
  assert.equal(await slots.acquire(never), true);
  const waiting = [1, 2, 3].map(async (name) => {
    assert.equal(await slots.acquire(never), true);
    order.push(name);
    slots.release();
  });
  assert.deepEqual(order, []);
  slots.release();
  await Promise.all(waiting);
  assert.deepEqual(order, [1, 2, 3]);
  assert.equal(await slots.acquire(never), true);
});

test('an abort while waiting gives false and no slot is lost', async () => {
  const slots = new ProcessSlots(1);
  await slots.acquire(never);
  const leaving = new AbortController();
  const left = slots.acquire(leaving.signal);
  const stayed = slots.acquire(never);
  leaving.abort();
  assert.equal(await left, false);
  assert.equal(slots.waiting, 1);
  slots.release();
  assert.equal(await stayed, true);
  assert.equal(await slots.acquire(leaving.signal), false);
});
