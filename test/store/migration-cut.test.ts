// Proves that opening a PostgreSQL ledger fails with a reason, without ending the process or changing the ledger, when its connection breaks meanwhile
// or a newer version has written it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { NEWEST_SCHEMA } from '../../src/store/schema/migrations.ts';
import { executeSql } from '../postgres/execute-sql.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';

it('a connection that ends while it waits for the migration lock', async () => {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  const [other, watcher] = [new pg.Client(url), new pg.Client(url)];
  await Promise.all([other.connect(), watcher.connect()]);
  await (await openStore(url)).close();
  // Migration reads this table, so it waits while this transaction holds the lock.
  await other.query('BEGIN; LOCK TABLE coppice_migrations IN ACCESS EXCLUSIVE MODE');
  const opened = openStore(url).then(
    () => null,
    (error: unknown) => error as { readonly code?: string },
  );
  const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await until(async () => (await watcher.query(waiting)).rows.length > 0, 'the opening waits');
  await watcher.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS picked`);
  assert.equal((await opened)?.code, 'E_DB_UNAVAILABLE');
  await other.query('ROLLBACK');
  await Promise.all([other.end(), watcher.end()]);
  await server.stop();
});

it('refuses a ledger of a newer version, and accepts it again at this version', async () => {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  await (await openStore(url)).close();
  const newer = NEWEST_SCHEMA + 1;
  await executeSql(url, `INSERT INTO coppice_migrations (number) VALUES (${newer})`);
  await assert.rejects(openStore(url), { code: 'E_DB_NEWER' });
  await executeSql(url, `DELETE FROM coppice_migrations WHERE number = ${newer}`);
  await (await openStore(url)).close();
  await server.stop();
});
