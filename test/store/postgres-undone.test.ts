// Proves that a transaction that PostgreSQL rolled back because of a conflict is retried, takes effect once, and fails with a reason when it never can succeed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';
import { newAgent, newRoot, said, stepOf } from './ledger-fixture.ts';

const LOCK = 'SELECT 1 FROM trees WHERE root_id = $1 FOR UPDATE';
const COLUMNS = `SELECT quote_ident(column_name) AS name FROM information_schema.columns
  WHERE table_name = $1 AND table_schema = 'public' AND is_identity = 'NO'`;

describe('a PostgreSQL ledger retries what the database rolled back:', () => {
  let server: Databases;
  let url: string;
  let admin: pg.Client;
  /** A transaction of another process, held open. */
  let rival: pg.Client;
  before(async () => {
    server = await sharedPostgres();
    url = await server.createDatabase();
    [admin, rival] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
    await Promise.all([admin.connect(), rival.connect()]);
  });
  after(async () => {
    await Promise.all([admin.end(), rival.end()]);
    await server.stop();
  });

  const withStore = async (settings: string, work: (store: Store) => Promise<void>): Promise<void> => {
    const store = await openStore(settings === '' ? url : `${url}?options=${encodeURIComponent(settings)}`);
    await work(store).finally(() => store.close());
  };
  const isHeldUp = () =>
    until(async () => {
      const sql =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      return (await admin.query(sql)).rows.length > 0;
    }, 'the store waits for the rival');

  it('a root that another process created at the same moment (unique violation)', () =>
    withStore('', async (store) => {
      const made = newAgent(null);
      await store.createRoot(made, DEFAULT_LIMITS);
      const { id } = made.agent;
      const twin = newAgent(null);
      await rival.query('BEGIN');
      for (const table of ['trees', 'agents']) {
        const known = await rival.query(COLUMNS, [table]);
        const columns = known.rows.map(({ name }) => name as string);
        const values = columns.map((name) => (name === 'id' || name === 'root_id' ? '$2' : name));
        const copy = `INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table} WHERE root_id = $1`;
        await rival.query(copy, [id, twin.agent.id]);
      }
      const creating = store.createRoot(twin, DEFAULT_LIMITS);
      await isHeldUp();
      await rival.query('COMMIT');
      assert.equal((await creating).total, 1);
      // The first message of the root that lost the race was not written.
      assert.equal((await store.history(twin.agent.id)).length, 0);
    }));

  it('a step whose snapshot is outdated (serialization failure)', () =>
    withStore('-c default_transaction_isolation=serializable', async (store) => {
      const root = await newRoot(store);
      await rival.query('BEGIN');
      await rival.query('UPDATE trees SET tokens = 7 WHERE root_id = $1', [root.id]);
      const committing = store.commit([stepOf(root, { messages: [said('overtaken')] })]);
      await isHeldUp();
      await rival.query('COMMIT');
      assert.deepEqual(
        (await committing).map(({ ok }) => ok),
        [true],
      );
      assert.deepEqual([(await store.history(root.id)).length, (await store.tree(root.id))?.tokens], [2, 7]);
    }));

  it('steps that wait for each other (deadlock)', () =>
    withStore('', async (store) => {
      const first = await newRoot(store, {}, { id: `a${randomUUID()}` });
      const second = await newRoot(store, {}, { id: `b${randomUUID()}` });
      await rival.query("BEGIN; SET LOCAL deadlock_timeout = '60s'");
      await rival.query(LOCK, [second.id]);
      const committing = store.commit([first, second].map((root) => stepOf(root, { messages: [said('x')] })));
      await isHeldUp();
      await rival.query(LOCK, [first.id]);
      await rival.query('COMMIT');
      assert.deepEqual(
        (await committing).map(({ ok }) => ok),
        [true, true],
      );
      assert.deepEqual(
        [(await store.history(first.id)).length, (await store.history(second.id)).length],
        [2, 2],
      );
    }));

  it('a step that never gets the lock of its tree fails as busy, and succeeds when retried', () =>
    withStore('-c lock_timeout=10', async (store) => {
      const root = await newRoot(store);
      const step = stepOf(root, { messages: [said('late')] });
      await rival.query('BEGIN');
      await rival.query(LOCK, [root.id]);
      await assert.rejects(store.commit([step]), { code: 'E_DB_BUSY' });
      await rival.query('COMMIT');
      assert.deepEqual(
        (await store.commit([step])).map(({ ok }) => ok),
        [true],
      );
      assert.equal((await store.history(root.id)).length, 2);
    }));
});
