// Proves whose calls a lease that ends stops: those of trees that this process took over by itself, until it has released them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import { LEASE_OVER, UnattendedTrees } from '../../../src/runtime/leading/unattended-trees.ts';

it('only calls of trees that nobody attends are stopped; a tree that was released is one no more', () => {
  const calls = new Map(['kept', 'released', 'attended'].map((id) => [id, new AbortController()]));
  const cells = [...calls].map(([root_id, call]) => ({
    agent: { root_id },
    calls: new Map([['c1', call]]),
  })) as unknown as Cell[];
  const trees = new UnattendedTrees();
  for (const id of ['kept', 'released']) trees.add(id);
  trees.forget('released');
  trees.stopCalls(cells);
  assert.deepEqual(
    [...calls].map(([id, { signal }]) => [id, signal.reason]),
    [
      ['kept', LEASE_OVER],
      ['released', undefined],
      ['attended', undefined],
    ],
  );
});
