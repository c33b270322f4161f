// Proves that the PostgreSQL ledger keeps its contract behind a real PgBouncer in transaction mode, with and without `pgbouncer=true`.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { executeSql } from '../postgres/execute-sql.ts';
import { findPgBouncer, type PgBouncer, startPgBouncer } from '../postgres/start-pgbouncer.ts';
import { type PostgresServer, startPostgres } from '../postgres/start-postgres.ts';
import { storeContract } from './contract/contract.ts';
import { letter, newRoot, said, stepOf } from './ledger-fixture.ts';
import { workThrough } from './outage-stage.ts';

const program = findPgBouncer();
if (program === null)
  it('behind PgBouncer', { skip: 'there is no pgbouncer here: apt-get install pgbouncer' }, () => undefined);
else provePooled(program);

function provePooled(program: string): void {
  storeContract('PostgreSQL behind PgBouncer', async () => {
    const server = await startPostgres();
    const direct = await server.createDatabase();
    const pooler = await startPgBouncer(program, direct);
    return {
      open: (options) => openStore(`${pooler.pooled(direct)}?pgbouncer=true`, options),
      execute: (sql) => executeSql(direct, sql),
      close: async () => {
        await pooler.stop();
        await server.stop();
      },
    };
  });

  describe('behind PgBouncer', () => {
    let server: PostgresServer;
    let pooler: PgBouncer;
    let direct: string;
    let admin: pg.Client;
    before(async () => {
      server = await startPostgres();
      pooler = await startPgBouncer(program, await server.createDatabase());
    });
    after(async () => {
      await pooler.stop();
      await server.stop();
    });

    async function withDatabase(work: (pooled: string) => Promise<void>): Promise<void> {
      direct = await server.createDatabase();
      admin = new pg.Client({ connectionString: direct });
      await admin.connect();
      await work(pooler.pooled(direct));
      await admin.end();
    }
    const listening = async (): Promise<number> => {
      const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
      return (await admin.query(sql)).rowCount ?? 0;
    };

    it('breaks prepared statements for clients that rely on them', () =>
      withDatabase(async (pooled) => {
        const clients = Array.from({ length: 4 }, () => new pg.Client({ connectionString: pooled }));
        await Promise.all(clients.map((client) => client.connect()));
        const codes = new Set<string>();
        const named = { name: 'named', text: 'SELECT $1::int AS n', values: [1] };
        for (let n = 0; n < 20; n += 1)
          await Promise.all(
            clients.map((client) => client.query(named).catch((error) => codes.add(error.code))),
          );
        assert.ok(codes.has('26000') || codes.has('42P05'), [...codes].join());
        await Promise.all(clients.map((client) => client.end()));
      }));

    it('works without an option: prepared statements are given up at the first error', () =>
      withDatabase(async (pooled) => {
        const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(pooled)));
        const roots = await Promise.all(stores.map((store) => newRoot(store)));
        for (let n = 0; n < 40; n += 1)
          await Promise.all(
            stores.map(async (store, at) => {
              const root = roots[at] as (typeof roots)[0];
              const now = await store.agent(root.id);
              assert.ok(now);
              const [verdict] = await store.commit([
                stepOf(now, { messages: [said(`${n}`)], send: [letter(now, now)] }),
              ]);
              assert.ok(verdict?.ok, JSON.stringify(verdict));
            }),
          );
        for (const [at, store] of stores.entries()) {
          const { id } = roots[at] as (typeof roots)[0];
          assert.equal((await store.history(id)).length, 41);
          assert.equal((await store.mail(id)).length, 40);
        }
        await Promise.all(stores.map((store) => store.close()));
      }));

    it('does not listen through the pooler; polls for wake-ups', () =>
      withDatabase(async (pooled) => {
        const store = await openStore(`${pooled}?prepare=false`);
        const worker = randomUUID();
        const root = await newRoot(store, {}, { worker });
        let woken = 0;
        const stop = await store.listen(worker, () => {
          woken += 1;
        });
        assert.equal(await listening(), 0);
        await store.send({ ...letter(root, root), from_id: null });
        for (let tries = 0; tries < 500 && woken === 0; tries += 1) await sleep(20);
        assert.ok(woken > 0);
        assert.equal((await store.signals(worker)).length, 1);
        await stop();
        await store.close();
      }));

    it('wake-ups come over the direct connection named in the URL, which is used for nothing else', () =>
      withDatabase(async (pooled) => {
        const store = await openStore(`${pooled}?prepare=false&listen=${encodeURIComponent(direct)}`);
        assert.ok(!store.location.includes('listen'));
        const stop = await store.listen(randomUUID(), () => undefined);
        assert.equal(await listening(), 1);
        await stop();
        await store.close();
      }));

    it('loses and repeats nothing when the server behind it restarts', (context) =>
      withDatabase(async (pooled) => {
        await admin.end();
        const report = await workThrough(`${pooled}?pgbouncer=true`, async () => {
          for (let n = 0; n < 2; n += 1) {
            await sleep(300);
            await server.restart();
          }
          await sleep(300);
        });
        admin = new pg.Client({ connectionString: direct });
        await admin.connect();
        context.diagnostic(JSON.stringify(report));
      }));
  });
}
