// Proves that what an earlier run has is read once for two calls at once, and again after a read that failed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EarlierRuns } from '../../../src/runtime/performing/earlier-run.ts';
import type { Store } from '../../../src/store/store.ts';

const NEED = {
  type: 'earlier',
  run: 'before',
  call: { key: 'k', name: '', label: 'l', phase: null },
  worktree: null,
} as const;

/** Runs of a ledger that has none, of which as many reads fail. */
function runs(failing: number) {
  const reads = { count: 0 };
  const store: Pick<Store, 'agent'> = {
    async agent() {
      reads.count += 1;
      if (reads.count <= failing) throw new Error('it is away');
      return null;
    },
  };
  const earlier = new EarlierRuns(store as Store);
  const make = async () => ({ ok: true, text: 'null' }) as const;
  return { reads, ask: () => earlier.answer({ ...NEED } as never, 'now', make) };
}

it('a read that failed is made again, as often as it fails', async () => {
  const { reads, ask } = runs(2);
  for (let count = 0; count < 2; count += 1) await assert.rejects(ask(), /it is away/);
  for (let count = 0; count < 2; count += 1) assert.deepEqual(await ask(), { ok: true, text: 'null' });
  assert.equal(reads.count, 3);
});

it('two calls at once read once', async () => {
  const { reads, ask } = runs(0);
  await Promise.all([ask(), ask()]);
  assert.equal(reads.count, 1);
});
