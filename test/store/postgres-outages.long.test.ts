// Proves that nothing is lost or done twice, and that work resumes by itself, whatever happens to the PostgreSQL server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { DEEP } from '../house/deep.ts';
import { type PostgresServer, startPostgres } from '../postgres/start-postgres.ts';
import { newRoot } from './ledger-fixture.ts';
import { type OutageReport, workThrough } from './outage-stage.ts';

const AWAY_S = DEEP ? 10 : 2;
const BACKENDS = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;

describe('a PostgreSQL ledger whose server', () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  const told = (context: { diagnostic(text: string): void }, report: OutageReport): void =>
    context.diagnostic(JSON.stringify(report));

  it('is stopped immediately and restarted, three times', async (context) => {
    const report = await workThrough(await server.createDatabase(), async () => {
      for (let n = 0; n < 3; n += 1) {
        await sleep(300);
        await server.restart();
      }
      await sleep(300);
    });
    assert.ok(report.failed > 0, 'the faults were felt');
    told(context, report);
  });

  it('repeatedly ends every connection during the work', async (context) => {
    const url = await server.createDatabase();
    let ended = 0;
    const report = await workThrough(url, async () => {
      const admin = new pg.Client({ connectionString: url });
      await admin.connect();
      for (let n = 0; n < 60; n += 1) {
        const { rowCount } = await admin.query(`SELECT pg_terminate_backend(pid) ${BACKENDS}`);
        ended += rowCount ?? 0;
        await sleep(50);
      }
      await admin.end();
    });
    assert.ok(ended > 100 && report.failed > 0, 'the faults were felt');
    told(context, report);
  });

  it('is replaced by a standby for a while', async (context) => {
    const report = await workThrough(await server.createDatabase(), async () => {
      await sleep(300);
      await server.halt();
      await server.start({ stand_by: true });
      await sleep(1_500);
      await server.promote();
      await sleep(300);
    });
    assert.ok(report.failed > 0, 'the faults were felt');
    told(context, report);
  });

  it('becomes read-only without ending connections: they are given up', async () => {
    const url = await server.createDatabase();
    const store = await openStore(url);
    const root = await newRoot(store);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const pids = async () => (await admin.query(`SELECT pid ${BACKENDS}`)).rows.map(({ pid }) => pid);
    const old = await pids();
    const name = new URL(url).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    // Existing sessions keep their setting; once a new one is refused a write, the old ones are given up.
    const write = () =>
      store.serveTree(root.id).then(
        () => 'written',
        (error: StoreError) => error.code,
      );
    const outcomes = new Set<string>();
    for (let tries = 0; tries < 200 && !outcomes.has('E_DB_UNAVAILABLE'); tries += 1)
      for (const outcome of await Promise.all(Array.from({ length: 6 }, write))) outcomes.add(outcome);
    assert.ok(outcomes.has('E_DB_UNAVAILABLE'), [...outcomes].join());
    await admin.query('SET default_transaction_read_only = off');
    await admin.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    for (let tries = 0; tries < 200 && (await write()) !== 'written'; tries += 1) await sleep(20);
    assert.equal(await write(), 'written');
    const now = await pids();
    assert.ok(old.every((pid) => !now.includes(pid)));
    await admin.end();
    await store.close();
  });

  it(`refuses connections for ${AWAY_S} seconds`, async (context) => {
    const report = await workThrough(await server.createDatabase(), async () => {
      await sleep(300);
      await server.halt();
      await sleep(AWAY_S * 1_000);
      await server.start();
    });
    assert.ok(report.failed > 5 * AWAY_S, 'the faults were felt');
    told(context, report);
  });

  it('is read-only when it is opened: reported at once', async () => {
    const url = await server.createDatabase();
    await (await openStore(url)).close();
    const refused = await openStore(`${url}?options=-c%20default_transaction_read_only%3Don`).then(
      () => null,
      (error: unknown) => error,
    );
    assert.ok(refused instanceof StoreError && refused.code === 'E_DB_READ_ONLY', String(refused));
  });

  it('listens again after its connection was ended', async () => {
    const url = await server.createDatabase();
    const store = await openStore(url);
    const stop = await store.listen('w', () => undefined);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const listening = async () =>
      (await admin.query(`SELECT pid ${BACKENDS} AND query = 'LISTEN "coppice_worker_w"'`)).rows[0]?.pid;
    const first = await listening();
    assert.ok(first);
    await admin.query('SELECT pg_terminate_backend($1)', [first]);
    for (let tries = 0; tries < 500 && ((await listening()) ?? first) === first; tries += 1) await sleep(20);
    assert.notEqual((await listening()) ?? first, first);
    await stop();
    await store.close();
    await admin.end();
  });
});
