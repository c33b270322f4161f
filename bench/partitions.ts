import { parseArgs } from 'node:util';
import pg from 'pg';
import { openStore } from '../src/store/open-store.ts';
import { startPostgres } from '../test/postgres/start-postgres.ts';
import { machineLine } from './machine-line.ts';
import { HOT_QUERIES } from './partitions/hot-queries.ts';
import {
  BY_AGENT,
  BY_TREE,
  MESSAGES_ONLY,
  type PartitionKeys,
  partitionLedger,
} from './partitions/partition-ledger.ts';
import { pruning } from './partitions/pruning.ts';
import { workload } from './partitions/workload.ts';
import { postgresVersion } from './postgres-version.ts';

/**
 * `npm run bench:partitions -- [--trees 200] [--rounds 10] [--partitions 16]`: the same work on a ledger as it is, and on ledgers whose big tables are cut by tree,
 * by agent, and with messages alone cut; which hot statements look into one partition; vacuum, and the deletion of old trees. The database does not sync, so that its processor is measured.
 */
const { values } = parseArgs({
  options: {
    trees: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '10' },
    partitions: { type: 'string', default: '16' },
  },
});
const [trees, rounds, count] = [Number(values.trees), Number(values.rounds), Number(values.partitions)];
if (![trees, rounds, count].every((value) => value > 0)) {
  console.error('usage: npm run bench:partitions -- [--trees N] [--rounds N] [--partitions N]');
  process.exit(2);
}
/** Tables that an old tree leaves. */
const OF_AGENT = ['messages', 'requests'];
const OF_TREE = ['mail', 'agents', 'trees'];

const server = await startPostgres({ settings: ['max_locks_per_transaction=512', 'autovacuum=off'] });
try {
  const cases: [string, PartitionKeys | null][] = [
    ['as it is', null],
    ['by tree', BY_TREE],
    ['by agent', BY_AGENT],
    ['messages', MESSAGES_ONLY],
  ];
  const scans = new Map<string, string[]>();
  console.log(
    `${trees} trees of 5 agents, ${rounds} steps each, ${count} partitions; ${machineLine()}, ${await postgresVersion(await server.createDatabase())} without fsync\n`,
  );
  console.log(
    `${'ledger'.padEnd(10)}${['steps/s', 'vacuum', 'delete 10 %', 'vacuum then', 'size'].map((name) => name.padStart(13)).join('')}`,
  );
  for (const [title, keys] of cases) {
    const url = await server.createDatabase();
    const weakened = keys === null ? [] : await partitionLedger(url, keys, count);
    const store = await openStore(url);
    const { roots, steps_per_second } = await workload(store, trees, rounds);
    await store.close();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const timed = async (...texts: string[]): Promise<string> => {
      const begun = performance.now();
      for (const text of texts) await client.query(text, text.includes('$1') ? [old] : []);
      return `${(performance.now() - begun).toFixed(0)} ms`;
    };
    const old = roots.slice(0, Math.ceil(trees / 10));
    const vacuum = await timed('VACUUM ANALYZE');
    await explain(client, roots[0] as string);
    const removal = await timed(
      ...OF_AGENT.map(
        (table) => `DELETE FROM ${table} WHERE agent_id IN (SELECT id FROM agents WHERE root_id = ANY ($1))`,
      ),
      ...OF_TREE.map((table) => `DELETE FROM ${table} WHERE root_id = ANY ($1)`),
    );
    const again = await timed('VACUUM');
    const { rows } = await client.query('SELECT pg_database_size(current_database()) AS bytes');
    const size = `${(Number(rows[0].bytes) / 2 ** 20).toFixed(0)} MB`;
    await client.end();
    const cells = [steps_per_second.toFixed(0), vacuum, removal, again, size];
    console.log(title.padEnd(10) + cells.map((cell) => cell.padStart(13)).join(''));
    if (weakened.length > 0) console.log(`           unique within a partition only: ${weakened.join(', ')}`);
  }
  console.log(
    `\npartitions looked into, of ${count}\n${'statement'.padEnd(42)}${'by tree'.padEnd(28)}${'by tree, if told which'.padEnd(28)}by agent`,
  );
  for (const { when } of HOT_QUERIES) {
    const [, , by_tree = '', told = '', by_agent = ''] = scans.get(when) ?? [];
    console.log(
      `${when.padEnd(42)}${(by_tree || '–').padEnd(28)}${(told || '–').padEnd(28)}${by_agent || '–'}`,
    );
  }

  async function explain(client: pg.Client, tree: string): Promise<void> {
    const { rows } = await client.query(
      'SELECT m.id AS mail, m.to_id AS agent FROM mail m WHERE m.root_id = $1 LIMIT 1',
      [tree],
    );
    const { mail, agent } = rows[0];
    const known = { mail, agent, agents: [agent], tree, worker: 'w1', now: Date.now(), channel: 'stdout' };
    for (const query of HOT_QUERIES) {
      const before = scans.get(query.when) ?? [];
      scans.set(query.when, [
        ...before,
        await pruning(client, query, known),
        await pruning(client, query, known, true),
      ]);
    }
  }
} finally {
  await server.stop();
}
