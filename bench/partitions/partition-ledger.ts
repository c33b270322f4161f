import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';

/** Column by which each table is cut, where it has one: rows of a tree together, or rows of an agent together. */
export type PartitionKeys = Readonly<Record<string, string>>;

/** Everything of a tree in one partition, as far as the rows say which tree is theirs; what knows its agent only is cut by that. */
export const BY_TREE: PartitionKeys = {
  trees: 'root_id',
  agents: 'root_id',
  mail: 'root_id',
  asks: 'root_id',
  subagent_runs: 'root_id',
  deliveries: 'root_id',
  unled: 'root_id',
  messages: 'agent_id',
  requests: 'agent_id',
  wait_edges: 'waiter',
};

/** Rows of an agent together, which is how the statements look for them. */
export const BY_AGENT: PartitionKeys = {
  agents: 'id',
  mail: 'to_id',
  messages: 'agent_id',
  requests: 'agent_id',
  wait_edges: 'waiter',
};

/** Only what is by far the largest; its key permits it as it is. */
export const MESSAGES_ONLY: PartitionKeys = { messages: 'agent_id' };

/** What a key now says less than before: unique within a partition only. */
export type Weakened = readonly string[];

interface IndexRow {
  readonly definition: string;
  readonly name: string;
  readonly is_unique: boolean;
  readonly is_primary: boolean;
  readonly columns: readonly string[];
}

/**
 * Makes the newest schema in an empty database and declares its big tables `PARTITION BY HASH`, read from the catalog, so that later migrations are cut as well. A
 * unique key without the column is lengthened by it. Functions stay as they are. Needs PostgreSQL 17 (identity columns of partitioned tables).
 */
export async function partitionLedger(url: string, keys: PartitionKeys, count: number): Promise<Weakened> {
  await (await openStore(url)).close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    // They hang on the row types of the tables.
    const functions = await client.query(
      `SELECT pg_get_functiondef(p.oid) AS text, p.oid::regprocedure AS name FROM pg_proc p WHERE proname LIKE 'coppice\\_%' ORDER BY p.oid`,
    );
    for (const { name } of functions.rows) await client.query(`DROP FUNCTION ${name}`);
    const weakened: string[] = [];
    for (const [table, column] of Object.entries(keys))
      weakened.push(...(await partition(client, table, column, count)));
    await client.query('SET LOCAL check_function_bodies = off');
    for (const { text } of functions.rows) await client.query(text);
    await client.query('COMMIT');
    return weakened;
  } finally {
    await client.end();
  }
}

async function partition(client: pg.Client, table: string, column: string, count: number): Promise<string[]> {
  const { rows: found } = await client.query('SELECT reloptions FROM pg_class WHERE oid = to_regclass($1)', [
    table,
  ]);
  // A table of a later schema.
  if (found.length === 0) return [];
  const options = (found[0].reloptions ?? []) as string[];
  const indexes = await indexesOf(client, table);
  await client.query(`ALTER TABLE ${table} RENAME TO whole`);
  await client.query(
    `CREATE TABLE ${table} (LIKE whole INCLUDING DEFAULTS INCLUDING IDENTITY) PARTITION BY HASH (${column})`,
  );
  await client.query('DROP TABLE whole');
  const terms = options.length === 0 ? '' : ` WITH (${options.join()})`;
  for (let at = 0; at < count; at += 1)
    await client.query(
      `CREATE TABLE ${table}_p${at} PARTITION OF ${table} FOR VALUES WITH (MODULUS ${count}, REMAINDER ${at})${terms}`,
    );
  const weakened: string[] = [];
  for (const { definition, name, is_unique, is_primary, columns } of indexes) {
    if (!is_unique) {
      await client.query(definition);
      continue;
    }
    const kept = columns.includes(column);
    if (!kept) weakened.push(`${table} (${columns.join(', ')})`);
    const all = kept ? columns : [...columns, column];
    const kind = is_primary ? 'PRIMARY KEY' : 'UNIQUE';
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${kind} (${all.join()})`);
  }
  return weakened;
}

async function indexesOf(client: pg.Client, table: string): Promise<IndexRow[]> {
  const { rows } = await client.query(
    `SELECT pg_get_indexdef(i.indexrelid) AS definition, c.relname AS name, i.indisunique AS is_unique, i.indisprimary AS is_primary,
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (attnum, place)
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum ORDER BY k.place) AS columns
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass($1) ORDER BY i.indisprimary DESC, c.relname`,
    [table],
  );
  return rows as IndexRow[];
}
