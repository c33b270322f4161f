// Proves that no frequent call scans a large table of a large PostgreSQL ledger, also inside its functions, and prints the costs.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { PlanLog } from '../postgres/plan-log.ts';
import { type PostgresServer, startPostgres } from '../postgres/start-postgres.ts';
import { HOT_CALLS } from './hot-calls.ts';
import { LARGE, LARGE_LEADER, largeLedger } from './large-ledger.ts';

/** Tables that stay small in a large ledger. */
const SMALL = new Set(['workers', 'signals', 'channel_seats', 'coppice_migrations']);
/** More than five executions, after which the server may choose a generic plan. */
const ROUNDS = 8;

describe('plans on a large PostgreSQL ledger', () => {
  const log = new PlanLog();
  let server: PostgresServer;
  let admin: pg.Client;
  let url: string;
  let store: Store;
  before(async () => {
    // Collects statistics from all rows, so that plans do not depend on a sample.
    const counting = ['default_statistics_target=1000', 'autovacuum=off'];
    server = await startPostgres({ settings: [...log.settings, ...counting, 'max_wal_size=4GB'] });
    url = await server.createDatabase();
    await (await openStore(url)).close();
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
    for (const sql of largeLedger((n) => `generate_series(1, ${n}) AS s (i)`)) await admin.query(sql);
    await admin.query('INSERT INTO search_places (agent_id, seq) SELECT id, 0 FROM agents');
    await admin.query('VACUUM ANALYZE');
    await log.begin(url);
    store = await openStore(url);
    await store.heartbeat({ id: LARGE_LEADER, host: 'elsewhere', pid: 1 });
    await log.scans(admin);
  });
  after(async () => {
    await store.close();
    await admin.end();
    await server.stop();
    log.remove();
  });

  it('a full table scan would be noticed', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('DO $$ BEGIN PERFORM 1 FROM agents WHERE updated_at = 1; END $$');
    await client.end();
    const [scan] = await log.scans(admin);
    assert.deepEqual([scan?.node, scan?.table, scan?.rows], ['Seq Scan', 'agents', LARGE.agents]);
  });

  for (const { name, rows, call } of HOT_CALLS)
    it(name, async (context) => {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        // Renews the lease, so that the leading worker does not count as dead on a slow machine.
        await store.heartbeat({ id: LARGE_LEADER, host: 'elsewhere', pid: 1 });
        await log.scans(admin);
        const began = performance.now();
        await call(store);
        times.push(performance.now() - began);
        const scans = await log.scans(admin);
        assert.ok(scans.length > 0, 'the plans were seen');
        // The query that counts the open work reads all of it.
        const counts = (sql: string) => sql.startsWith('WITH waiting AS MATERIALIZED');
        const bad = scans.filter(
          ({ node, table, statement }) =>
            node === 'Seq Scan' && !SMALL.has(table) && !(table === 'unled' && counts(statement)),
        );
        assert.deepEqual(bad, []);
        const seen = scans.reduce((sum, scan) => sum + scan.rows, 0);
        const most = scans.toSorted((a, b) => b.rows - a.rows).slice(0, 3);
        assert.ok(seen <= rows, `${seen} rows looked at, round ${round}: ${JSON.stringify(most, null, 1)}`);
        if (round === ROUNDS - 1)
          context.diagnostic(
            `${seen} rows, ${times.toSorted((a, b) => a - b)[ROUNDS / 2]?.toFixed(1)} ms (plans logged)`,
          );
      }
    });

  it('a dead worker is removed once, with all its leases; the next query finds nothing of it', async (context) => {
    await admin.query('UPDATE workers SET expires_at = 0 WHERE id = $1', [LARGE_LEADER]);
    const began = performance.now();
    assert.deepEqual(await store.unledTrees(50), []);
    const took = performance.now() - began;
    const sql = `SELECT count(*)::int AS held, (SELECT count(*)::int FROM workers) AS workers FROM agents WHERE worker IS NOT NULL`;
    assert.deepEqual((await admin.query(sql)).rows, [{ held: 0, workers: 0 }]);
    await log.scans(admin);
    assert.deepEqual(await store.unledTrees(50), []);
    const seen = (await log.scans(admin)).reduce((sum, scan) => sum + scan.rows, 0);
    assert.ok(seen < 20, `${seen} rows looked at`);
    context.diagnostic(
      `${LARGE.agents / 10} agents taken from it in ${took.toFixed(0)} ms (plans logged), then ${seen} rows a look`,
    );
  });
});
