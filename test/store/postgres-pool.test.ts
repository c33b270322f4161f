// Proves how the connection pool handles poolers and broken connections: unnamed statements behind a pooler, new connections after a fail-over, none left open.
import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { ConnectionPool } from '../../src/store/postgres/connection-pool.ts';
import { Listener } from '../../src/store/postgres/listener.ts';
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts';
import { executeSql } from '../postgres/execute-sql.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';
import { newRoot } from './ledger-fixture.ts';

describe('connections to a PostgreSQL server', () => {
  let server: Databases;
  let url: string;
  let admin: pg.Client;
  before(async () => {
    server = await sharedPostgres();
    url = await server.createDatabase();
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
  });
  after(async () => {
    await admin.end();
    await server.stop();
  });
  const connections = async (): Promise<number> => {
    const sql =
      'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    return (await admin.query(sql)).rows.length;
  };

  it('that lose a prepared statement get unnamed statements from then on', async () => {
    const pool = new ConnectionPool({ url, prepare: true });
    const database = new PostgresDatabase(pool, 'ledger', new Listener(null));
    let told = 0;
    pool.onPooler = () => {
      told += 1;
    };
    const named = async () => (await pool.query('SELECT name FROM pg_prepared_statements', [])).length;
    assert.equal(await named(), 1);
    await pool.query('DEALLOCATE ALL', []);
    assert.equal((await database.read('SELECT name FROM pg_prepared_statements')).length, 0);
    assert.equal(told, 1);
    assert.equal(await named(), 0, 'nothing is prepared by name any more');
    await pool.query('DEALLOCATE ALL', []);
    await named();
    assert.equal(told, 1);
    await database.close();
    await until(async () => (await connections()) === 0, 'every connection is ended');
  });

  it('are all new after a reconnect, and none is opened after the end', async () => {
    const pool = new ConnectionPool({ url, prepare: true });
    const pid = async () => (await pool.query('SELECT pg_backend_pid() AS pid', []))[0]?.pid;
    const first = await pid();
    assert.equal(await pid(), first);
    pool.reconnect();
    const second = await pid();
    assert.notEqual(second, first);
    await until(async () => (await connections()) === 1, 'the old connection is ended');
    await pool.end();
    pool.reconnect();
    await assert.rejects(pid());
    await pool.end();
    await until(async () => (await connections()) === 0, 'every connection is ended');
  });

  it('are all closed if the ledger cannot be opened', async () => {
    const empty = await server.createEmpty();
    await assert.rejects(openStore(empty, { create: false }), { code: 'E_DB_NONE' });
    const store = await openStore(empty);
    const root = await newRoot(store);
    await store.close();
    const again = await openStore(empty, { create: false });
    assert.equal((await again.agent(root.id))?.id, root.id);
    await again.close();
    await executeSql(empty, 'INSERT INTO coppice_migrations (number) VALUES (1000)');
    await assert.rejects(openStore(empty), { code: 'E_DB_NEWER', message: /schema 1000/ });
  });

  it('are not made to a database that cannot hold every text, before anything is written there', async () => {
    const narrow = await server.createEmpty('LATIN1');
    await assert.rejects(openStore(narrow), {
      code: 'E_DB_UNREADABLE',
      message: /encoding is LATIN1: create/,
    });
    await assert.rejects(openStore(narrow, { create: false }), { code: 'E_DB_NONE' });
  });

  it('are not made to a database without a schema for tables', async () => {
    const bare = await server.createEmpty();
    await executeSql(bare, 'DROP SCHEMA public');
    await assert.rejects(openStore(bare), { code: 'E_DB_READ_ONLY', message: /no schema in which/ });
  });

  it('that are refused are tried again, after longer and longer pauses', async (t) => {
    t.mock.method(Math, 'random', () => 1);
    const tries: number[] = [];
    const { hostname, port } = new URL(url);
    const relay = createServer((client) => {
      tries.push(performance.now());
      if (tries.length < 4) return client.destroy();
      client.pipe(connect(Number(port), hostname)).pipe(client);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const behind = url.replace(`:${port}/`, `:${(relay.address() as AddressInfo).port}/`);
    const pool = new ConnectionPool({ url: behind, prepare: true });
    const database = new PostgresDatabase(pool, 'ledger', new Listener(null));
    assert.deepEqual(await database.read('SELECT 1 AS one'), [{ one: 1 }]);
    await database.close();
    await new Promise((resolve) => relay.close(resolve));
    await until(async () => (await connections()) === 0, 'every connection is ended');
    const pauses = tries.slice(1).map((at, before) => at - (tries[before] as number));
    assert.equal(pauses.length, 3);
    // Timers may fire a millisecond early.
    for (const [at, least_ms] of [50, 100, 200].entries())
      assert.ok((pauses[at] as number) >= least_ms - 2, `pauses of ${pauses.join(', ')} ms`);
  });

  it('compile no query: neither those of the pool nor those of a transaction, through a pooler or not', async () => {
    for (const prepare of [true, false]) {
      const pool = new ConnectionPool({ url, prepare });
      const jit = async (rows: Promise<readonly object[]>) => assert.deepEqual(await rows, [{ jit: 'off' }]);
      const all = () =>
        Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => jit(pool.query('SHOW jit', [])))).then(() =>
          jit(pool.transaction((one, begun) => begun.then(() => one.query('SHOW jit', [])))),
        );
      await all();
      pool.reconnect();
      await all();
      await pool.end();
    }
  });

  it('leave the connections of a pooler as they were', async () => {
    const pool = new ConnectionPool({ url, prepare: false });
    await pool.query('SELECT 1', []);
    const left = await pool.transaction(async (one) => {
      await one.plain('COMMIT');
      return one.query('SHOW jit', []);
    });
    assert.deepEqual(left, [{ jit: 'on' }]);
    await pool.end();
  });

  it('do not listen once notifications are given up, now or later', async () => {
    const listener = new Listener(url);
    let woken = 0;
    const stop = await listener.listen('channel', () => {
      woken += 1;
    });
    assert.equal(await connections(), 1);
    await listener.pollOnly();
    await until(async () => (await connections()) === 0, 'the listening connection is ended');
    const before = woken;
    await until(() => woken > before, 'it polls');
    await (await listener.listen('another', () => undefined))();
    assert.equal(await connections(), 0);
    await stop();
    await listener.close();
  });
});
