// Proves that a read of history is shared by all that wait for it, and made again after one that failed, as often as that happens.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SharedRead } from '../../../src/trees/usage/patient-read.ts';

it('two at once read once, and a third soon after not at all', async () => {
  let reads = 0;
  const read = new SharedRead(async () => {
    reads += 1;
  });
  assert.deepEqual(await Promise.all([read.soon(), read.soon()]), [true, true]);
  assert.equal(await read.soon(), true);
  assert.equal(reads, 1);
});

it('a read that failed rejects for all that waited, and is made again', async () => {
  let reads = 0;
  const read = new SharedRead(async () => {
    reads += 1;
    if (reads <= 2) throw new Error('it is away');
  });
  const outcomes = await Promise.allSettled([read.soon(), read.soon()]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await assert.rejects(read.soon(), /it is away/);
  assert.equal(await read.soon(), true);
  assert.equal(reads, 3);
});

it('whoever got an answer leaves no timer behind, however often one asks', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const read = new SharedRead(async () => undefined);
  for (const _ of 'abc') assert.equal(await read.soon(), true);
  await assert.rejects(new SharedRead(() => Promise.reject(new Error('away'))).soon(), /away/);
  assert.equal(timers(), before);
});
