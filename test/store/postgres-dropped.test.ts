// Proves that a PostgreSQL ledger that somebody drops under a process is named as the cause, by reads, writes and the clock alike.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { newRoot } from './ledger-fixture.ts';

let server: Databases;
before(async () => {
  server = await sharedPostgres();
});
after(() => server.stop());

it('tables that were dropped', async () => {
  const url = await server.createDatabase();
  const store = await openStore(url);
  await newRoot(store);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await admin.end();
  try {
    for (const call of [() => newRoot(store), () => store.workers(), () => store.now(), () => store.jobs()])
      await assert.rejects(call, { code: 'E_DB_GONE', message: /its tables were dropped: restore a backup/ });
  } finally {
    await store.close();
  }
});
