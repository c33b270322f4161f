// Proves that no frequent statement scans a large table of a large SQLite ledger, and prints the costs.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HOT_CALLS } from './hot-calls.ts';
import { LARGE, LARGE_LEADER, largeLedger } from './large-ledger.ts';

/** Tables that stay small in a large ledger, and names that are not tables. */
const SMALL = new Set(['workers', 'signals', 'channel_seats', 'sqlite_master']);
/** Partial indexes of open rows, which may be read as a whole. */
const OPEN_ONLY = new Set([
  'subagent_runs_active',
  'subagent_runs_to_clean',
  'deliveries_due',
  'deliveries_failed',
  'deliveries_pending',
  'cron_fires_queued',
  'cron_jobs_due',
  'asks_open',
  'asks_open_by_time',
]);
/** Indexes read in order up to a limit, where no other condition filters rows. */
const IN_ORDER: Readonly<Record<string, RegExp>> = {
  agents_conversations: /FROM agents WHERE origin = 'root' ORDER BY .* LIMIT/,
  agents_workflows:
    /FROM agents WHERE json_extract\(config, '\$\.workflow\.name'\) IS NOT NULL AND .* ORDER BY .* LIMIT/,
  agents_roots: /FROM agents WHERE parent_id IS NULL ORDER BY .* LIMIT/,
  unled_due: /FROM unled ORDER BY due_at, root_id LIMIT 1/,
  agents_by_time: /FROM agents\s+(WHERE status NOT IN \([^)]*\) )?ORDER BY .* LIMIT/,
  subagent_runs_by_time: /FROM subagent_runs\s+ORDER BY .* LIMIT/,
  deliveries_by_time: /FROM deliveries\s+ORDER BY .* LIMIT/,
};
/** The query that counts the open work, which reads all of it. */
const OPEN_WORK = /^WITH waiting AS MATERIALIZED/;
const ROUNDS = 5;
const SERIES = (n: number) =>
  `(WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${n}) SELECT i FROM s) AS s`;

describe('plans on a large SQLite ledger', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'ledger.db');
  const prepare = DatabaseSync.prototype.prepare;
  const statements = new Set<string>();
  let store: Store;
  let beside: DatabaseSync;
  before(async () => {
    await (await openStore(file)).close();
    beside = new DatabaseSync(file);
    beside.function('coppice_now', () => Date.now());
    beside.exec('PRAGMA synchronous = OFF; BEGIN');
    for (const sql of largeLedger(SERIES)) beside.exec(sql);
    beside.exec('COMMIT');
    // Collects every statement that the ledger prepares, to be explained here.
    DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
      statements.add(sql);
      return prepare.call(this, sql);
    };
    store = await openStore(file);
  });
  after(async () => {
    DatabaseSync.prototype.prepare = prepare;
    await store.close();
    beside.close();
  });

  /** Steps of the plan that scan more than they need. */
  function problems(sql: string): string[] {
    if (sql.startsWith('PRAGMA')) return [];
    const steps = prepare.call(beside, `EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[];
    // The tables of the statement by alias.
    const names = new Map<string, string>();
    for (const [, table, name] of sql.matchAll(
      /\b(?:FROM|JOIN)\s+(\w+)(?:\s+(?:AS\s+)?(?!WHERE|JOIN|ORDER|ON|GROUP|LIMIT|CROSS|SET)(\w+))?/g,
    ))
      names.set(name ?? (table as string), table as string);
    return steps.flatMap(({ detail }) => {
      const [, name = '', index = ''] =
        /^SCAN (\w+)(?! VIRTUAL TABLE)\b(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
      const table = names.get(name) ?? name;
      const fine =
        name === '' ||
        SMALL.has(table) ||
        OPEN_ONLY.has(index) ||
        IN_ORDER[index]?.test(sql) ||
        (table === 'unled' && OPEN_WORK.test(sql)) ||
        isOfTheStatement(sql, table);
      return fine ? [] : [`${detail} in: ${sql.replaceAll(/\s+/g, ' ')}`];
    });
  }

  it('a full table scan would be noticed', () => {
    assert.equal(problems('SELECT 1 FROM agents g WHERE g.updated_at = 1').length, 1);
    assert.equal(problems('SELECT 1 FROM agents g WHERE g.id = ?').length, 0);
  });

  for (const { name, call } of HOT_CALLS)
    it(name, async (context) => {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await store.heartbeat({ id: LARGE_LEADER, host: 'elsewhere', pid: 1 });
        const began = performance.now();
        await call(store);
        times.push(performance.now() - began);
      }
      assert.ok(statements.size > 0, 'the statements were seen');
      assert.deepEqual([...statements].flatMap(problems), []);
      context.diagnostic(`${times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]?.toFixed(2)} ms`);
    });

  it('a dead worker is removed once, with all its leases', async (context) => {
    beside.exec('UPDATE workers SET expires_at = 0');
    const began = performance.now();
    assert.deepEqual(await store.unledTrees(50), []);
    context.diagnostic(`${LARGE.agents / 10} agents in ${(performance.now() - began).toFixed(0)} ms`);
    const held = prepare.call(beside, 'SELECT count(*) AS n FROM agents WHERE worker IS NOT NULL').get();
    assert.equal(held?.n, 0);
    const again = performance.now();
    assert.deepEqual(await store.unledTrees(50), []);
    context.diagnostic(`the next look ${(performance.now() - again).toFixed(2)} ms`);
    assert.deepEqual([...statements].flatMap(problems), []);
  });

  it('of old trees only the roots are read, by age', async () => {
    await store.oldTrees({ before: 1, idle: false }, null);
    const page = [...statements].find((sql) => sql.includes('AS may_go')) ?? '';
    const plan = prepare.call(beside, `EXPLAIN QUERY PLAN ${page}`).all();
    assert.match(JSON.stringify(plan), /SEARCH agents USING INDEX agents_roots \(created_at/);
  });

  it('of the runs of a tree only those that are queued are read when one ends', () => {
    const query = [...statements].find((sql) => sql.includes('r.started_at IS NULL')) ?? '';
    const plan = prepare.call(beside, `EXPLAIN QUERY PLAN ${query}`).all();
    assert.match(JSON.stringify(plan), /SEARCH r USING INDEX subagent_runs_queued/);
  });
});

/** Whether the name denotes a part of the statement itself, such as a list of ids. */
function isOfTheStatement(sql: string, name: string): boolean {
  return new RegExp(`\\b${name} (\\([a-z_, ]+\\) )?AS (MATERIALIZED )?\\(`).test(sql) || name === 'CONSTANT';
}
