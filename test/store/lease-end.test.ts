// Proves on both databases that a lease ends in the same millisecond for everything that checks it: its worker, lists, claims, seats of channels, and the
// search for dead workers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { LEASE_MS } from '../../src/kernel/ledger/leases.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { openStore } from '../../src/store/open-store.ts';
import { executeSql } from '../postgres/execute-sql.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newAgent } from './ledger-fixture.ts';

const BEGUN = 1_000_000;

onBothDatabases('the end of a lease', (database) => {
  it('comes for all in the same millisecond', async () => {
    const url = await database();
    let now = BEGUN;
    const store = await openStore(url ?? join(temporaryFolder(), 'ledger.db'), { now: () => now });
    const setClock = async (at: number) => {
      now = at;
      const its_clock = `CREATE OR REPLACE FUNCTION coppice_now() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT ${at}::bigint'`;
      if (url !== undefined) await executeSql(url, its_clock);
    };
    await setClock(BEGUN);
    const [first, silent, next] = ['first', 'silent', 'next'].map((id) => ({
      worker: { id, host: 'elsewhere', pid: 1 },
      root: newAgent(null, { worker: id }),
    }));
    assert.ok(first && silent && next);
    for (const { worker } of [first, silent, next]) assert.equal(await store.heartbeat(worker), true);
    for (const { root } of [first, silent]) await store.createRoot(root, DEFAULT_LIMITS, { served: true });
    await store.takeSeat('telegram', 'first');
    const seen = async () => ({
      listed: (await store.workers()).length,
      claimed: (await store.claim(first.root.agent.id, next.worker)).length,
      has_seat: await store.takeSeat('telegram', 'next'),
      unled: await store.unledTrees(10),
    });

    await setClock(BEGUN + LEASE_MS - 1);
    assert.deepEqual(await seen(), { listed: 3, claimed: 0, has_seat: false, unled: [] });
    await setClock(BEGUN + LEASE_MS);
    assert.equal(await store.heartbeat(next.worker), false);
    const unled = [silent.root.agent.id];
    assert.deepEqual(await seen(), { listed: 1, claimed: 1, has_seat: true, unled });
    await store.close();
  });
});
