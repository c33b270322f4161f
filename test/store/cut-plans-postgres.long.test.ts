// Proves that on PostgreSQL a cut reads the letters of a tree some times, and not once for each agent, where all agents have written to one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { PlanLog } from '../postgres/plan-log.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import { CONFIG } from './ledger-fixture.ts';

const AGENTS = 500;
const AT = 1_700_000_000_000;
const series = `generate_series(1, ${AGENTS}) AS s (i)`;
const agent = (id: string, parent: string, depth: number, from: string) =>
  `INSERT INTO agents (id, root_id, parent_id, name, session_key, origin, depth, config, status, state, last_seq,
      created_at, updated_at) SELECT ${id}, 'root', ${parent}, 'a', ${id}, 'fork', ${depth}, '${JSON.stringify(CONFIG)}', 'idle',
      '{"type":"idle"}', 2, ${AT}, ${AT + AGENTS} ${from}`;
const TREE = [
  `INSERT INTO trees (root_id, limits, live, total) VALUES ('root', '{}', ${AGENTS + 1}, ${AGENTS + 1})`,
  agent("'root'", 'NULL', 0, ''),
  agent("'a' || i", "'root'", 1, `FROM ${series}`),
  `INSERT INTO messages (agent_id, seq, kind, content, at) SELECT id, n, 'user', '{"origin":"human","text":"t"}', ${AT} + n
      FROM agents, generate_series(1, 2) AS t (n)`,
  `INSERT INTO mail (id, root_id, to_id, from_id, from_name, kind, body, number, sent_at, sent_seq, consumed_seq)
      SELECT 'm' || i, 'root', 'root', 'a' || i, 'a', 'letter', 'text', i, ${AT} + i, 2, NULL FROM ${series}`,
  'VACUUM ANALYZE',
];

it('a cut reads the letters of a tree some times, however many agents it has', async (context) => {
  const log = new PlanLog();
  const server = await startPostgres({ settings: [...log.settings, 'autovacuum=off'] });
  const admin = new pg.Client({ connectionString: server.url });
  try {
    const url = await server.createDatabase();
    await (await openStore(url)).close();
    await admin.connect();
    const filling = new pg.Client({ connectionString: url });
    await filling.connect();
    for (const sql of TREE) await filling.query(sql);
    await filling.end();
    await log.begin(url);
    const store = await openStore(url);
    await log.scans(admin);
    const facts = await store.cutFacts('root', { at: AT + AGENTS / 2 });
    await store.close();
    assert.equal(facts?.cut.places.size, AGENTS + 1);
    const scans = (await log.scans(admin)).filter(({ table }) => table === 'mail');
    const rows = scans.reduce((sum, one) => sum + one.rows, 0);
    context.diagnostic(`${rows} rows in ${scans.length} scans`);
    assert.ok(scans.length > 0, 'the plans were seen');
    assert.ok(rows <= 5 * AGENTS, `${rows} letters read, of ${AGENTS}`);
  } finally {
    await admin.end();
    await server.stop();
    log.remove();
  }
});
