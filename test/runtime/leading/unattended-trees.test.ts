// Proves which calls the end of a lease stops: those of trees that this process took over by itself and has not released.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import type { Executor } from '../../../src/runtime/executor/executor.ts';
import { releaseTree } from '../../../src/runtime/leading/take-over.ts';
import { LEASE_OVER, UnattendedTrees } from '../../../src/runtime/leading/unattended-trees.ts';
import type { Store } from '../../../src/store/store.ts';

it('stops only calls of unattended trees; a released tree is no longer one', async () => {
  const calls = new Map(['kept', 'busy', 'released', 'attended'].map((id) => [id, new AbortController()]));
  const cells = [...calls].map(([root_id, call]) => ({
    agent: { root_id },
    calls: new Map([['c1', call]]),
  })) as unknown as Cell[];
  const trees = new UnattendedTrees();
  for (const id of ['kept', 'busy', 'released']) trees.add(id);
  const executor = {
    worker: { id: 'worker' },
    forget: (id: string) => (id === 'busy' ? null : new Map()),
  } as Partial<Executor> as Executor;
  const store = { releaseTree: async () => undefined } as Partial<Store> as Store;
  const released = ['busy', 'released'].map((id) => releaseTree(id, executor, store, trees));
  assert.deepEqual(await Promise.all(released), [false, true]);
  trees.stopCalls(cells);
  assert.deepEqual(
    [...calls].map(([id, { signal }]) => [id, signal.reason]),
    [
      ['kept', LEASE_OVER],
      ['busy', LEASE_OVER],
      ['released', undefined],
      ['attended', undefined],
    ],
  );
});
