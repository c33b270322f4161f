// Proves that thousands of deliveries that fail at once do not keep a server from answering, and that each is tried once.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';
import { floodedServer } from './flooded-server.ts';

it('2,000 deliveries to targets that are not configured: HTTP answers meanwhile', {
  timeout: 120_000,
}, async () => {
  const home = makeHome();
  const server = await floodedServer(home, home.database, 2_000);
  const store = await openStore(home.database);
  try {
    const isPending = async () => (await store.deliveries({ status: 'pending', limit: 1 })).length > 0;
    for (let asked = 0; asked < 5; asked += 1) {
      assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
      assert.ok(await isPending(), 'it answered before it was done');
    }
    await until(
      async () => (await store.deliveries({ status: 'pending', limit: 1 })).length === 0,
      'all end',
    );
    const ends = (await store.deliveries({})).map(({ status, attempts }) => `${status} ${attempts}`);
    assert.deepEqual([...new Set(ends)], ['failed 1']);
  } finally {
    await store.close();
    await server.stop();
  }
});
