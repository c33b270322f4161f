// Proves that a command that asks the ledger again and again goes on with what it has read of history, so that a long history is read once and ends.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ApiSources } from '../../../src/serve/api/route.ts';
import { ledgerClient } from '../../../src/serve/client/ledger-client.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { UsageRollUp } from '../../../src/trees/usage/usage-roll-up.ts';
import { newRoot, stepOf } from '../../store/ledger-fixture.ts';
import { newLedger } from '../../store/new-ledger.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

it('history is read from its beginning once', async () => {
  const store = await openStore(await newLedger(temporaryFolder()));
  const root = await newRoot(store);
  const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
  const old = { model: 'fake/m', usage, started_at: Date.now() - 3_600_000, duration_ms: 1 };
  await store.commit([stepOf(root, { requests: Array.from({ length: 450 }, () => old) })]);
  let begun = 0;
  const counted = {
    ...store,
    usageAfter: (...terms: Parameters<typeof store.usageAfter>) => {
      if (terms[0] === 0) begun += 1;
      return store.usageAfter(...terms);
    },
  };
  const read = { store: counted, unled: { env: {}, options: {} } as never, rules_file: '' };
  const client = ledgerClient(
    read,
    async () => ({ ...read, usage: new UsageRollUp(counted) }) as unknown as ApiSources,
  );
  for (let times = 0; times < 3; times += 1) {
    const { complete, total } = await client.usage({ days: 2 });
    assert.deepEqual([complete, total.requests], [true, 450]);
  }
  assert.equal(begun, 1);
  await store.close();
});
