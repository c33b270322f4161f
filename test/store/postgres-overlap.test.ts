// Proves that overlapping transactions on PostgreSQL do not corrupt each other, and that the server ends a stalled one.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';
import { fresh, newRoot, said, stepOf } from './ledger-fixture.ts';

/** Commits a step, blocks within its decision until told to continue, then reports the result. */
const STANDS_STILL = `
const { workerData, parentPort } = require('node:worker_threads');
const { url, step, gate, module } = workerData;
import(module).then(async ({ openStore }) => {
  const store = await openStore(url);
  Object.defineProperty(step, 'base_seq', { get() { gate[1] = 1; Atomics.wait(gate, 0, 0); return 1; } });
  parentPort.postMessage(await store.commit([step]).then(([one]) => one.ok, (error) => error.code));
  await store.close();
});`;

describe('a PostgreSQL ledger', () => {
  let server: Databases;
  let url: string;
  let store: Store;
  let admin: pg.Client;
  before(async () => {
    server = await sharedPostgres();
    url = await server.createDatabase();
    store = await openStore(url);
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
  });
  after(async () => {
    await admin.end();
    await store.close();
    await server.stop();
  });

  it('a worker that leaves does not take agents from the one that took them over meanwhile', async () => {
    const root = await newRoot(store, {}, { worker: 'leaves' });
    const taker = new pg.Client({ connectionString: url });
    await taker.connect();
    await taker.query('BEGIN');
    await taker.query('SELECT 1 FROM trees WHERE root_id = $1 FOR UPDATE', [root.id]);
    await taker.query("UPDATE agents SET worker = 'takes', epoch = epoch + 1 WHERE id = $1", [root.id]);
    const left = store.release('leaves');
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until(async () => (await admin.query(waiting)).rows.length > 0, 'the one that leaves waits');
    await taker.query('COMMIT');
    await taker.end();
    await left;
    assert.equal((await fresh(store, root)).worker, 'takes');
  });

  it('ends the transaction of a stalled process and releases its trees to others', async () => {
    const root = await newRoot(store);
    const gate = new Int32Array(new SharedArrayBuffer(8));
    const module = new URL('../../src/store/open-store.ts', import.meta.url).href;
    const step = stepOf(root, { messages: [said('from a process that stands still')] });
    const thread = new Worker(STANDS_STILL, { eval: true, workerData: { url, step, gate, module } });
    const told = new Promise((resolve) => thread.once('message', resolve));
    await until(() => gate[1] === 1, 'the other one stands still');
    const mine = await store.commit([stepOf(root, { messages: [said('mine')] })]).then(
      ([one]) => one?.ok,
      (error: { code: string }) => error.code,
    );
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    assert.deepEqual([mine, await told], [true, 'E_DB_UNAVAILABLE']);
    assert.equal((await store.history(root.id)).length, 2);
    await thread.terminate();
  });
});
