// Proves that a server that was suspended until its lease ran out, amid thousands of deliveries that fail at once, tries none of them over and over: it goes
// on once it has its lease again, answers HTTP meanwhile, and keeps its memory.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MS } from '../../../src/kernel/ledger/leases.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { sharedPostgres } from '../../postgres/shared-postgres.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';
import { floodedServer } from './flooded-server.ts';

const COUNT = 5_000;
const MEMORY_MAX_KB = 400_000;

async function suspended(database: string | null): Promise<void> {
  const home = makeHome();
  const where = database ?? home.database;
  const server = await floodedServer(home, where, COUNT);
  const store = await openStore(where);
  const pending = async () => (await store.deliveries({ status: 'pending' })).length;
  try {
    await until(async () => (await pending()) < COUNT - 20, 'it delivers');
    process.kill(server.pid, 'SIGSTOP');
    await sleep(LEASE_MS + 500);
    const before = await pending();
    assert.ok(before > 0, 'it is in the middle of them');
    process.kill(server.pid, 'SIGCONT');
    while ((await pending()) > 0) {
      assert.equal(
        (await fetch(`${server.url}/healthz`, { signal: AbortSignal.timeout(3_000) })).status,
        200,
      );
      await sleep(250);
    }
    const all = await store.deliveries({});
    assert.deepEqual([...new Set(all.map(({ status }) => status))], ['failed']);
    const tries = all.reduce((sum, { attempts }) => sum + attempts, 0);
    assert.ok(tries <= COUNT + 40, `only what was claimed before is tried again: ${tries} tries`);
    const [, memory_kb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? [];
    assert.ok(Number(memory_kb) < MEMORY_MAX_KB, `${memory_kb} kB`);
  } finally {
    await store.close();
    await server.stop();
  }
}

describe('a suspended server with 5,000 deliveries that fail at once', { timeout: 120_000 }, () => {
  it('on SQLite', () => suspended(null));

  it('on PostgreSQL', async () => {
    const server = await sharedPostgres();
    await suspended(await server.createDatabase());
    await server.stop();
  });
});
