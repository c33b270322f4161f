// Proves that a timeline is read again after a read that failed, also for somebody who is content with an older one, and once for two at once.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { TreeTimelines } from '../../../src/trees/timeline/tree-timelines.ts';

it('a read that failed is made again, as often as it fails', async () => {
  let reads = 0;
  const store = {
    async agents() {
      reads += 1;
      if (reads <= 2) throw new Error('it is away');
      return [];
    },
    asks: async () => [],
    now: async () => 1,
  };
  const timelines = new TreeTimelines(store as unknown as Store);
  for (let count = 0; count < 2; count += 1) await assert.rejects(timelines.of('root', 0), /it is away/);
  assert.equal(reads, 2);
  const both = await Promise.all([timelines.of('root', 0), timelines.of('root', 0)]);
  assert.deepEqual([both.map(({ now }) => now), reads], [[1, 1], 3]);
});
