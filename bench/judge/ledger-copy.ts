import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import { migrationsOf } from '../../src/store/schema/migrations.ts';

/** Tables that the laws of any moment read. */
export const MOMENT_TABLES = ['trees', 'agents', 'wait_edges'] as const;
/** Tables that the laws of a ledger at rest read. */
export const REST_TABLES = [
  ...MOMENT_TABLES,
  'messages',
  'mail',
  'requests',
  'subagent_runs',
  'asks',
] as const;

/**
 * Copies a snapshot of a PostgreSQL ledger into an SQLite ledger in memory, so that one checker of laws serves both. Rejects when the database cannot be
 * reached.
 */
export async function copyLedger(pool: pg.Pool, tables: readonly string[]): Promise<DatabaseSync> {
  const rows = await readMoment(pool, tables);
  const database = new DatabaseSync(':memory:');
  for (const { sql } of migrationsOf('sqlite')) database.exec(sql);
  database.exec('BEGIN');
  for (const [table, all] of rows) insert(database, table, all);
  database.exec('COMMIT');
  return database;
}

async function readMoment(pool: pg.Pool, tables: readonly string[]): Promise<Map<string, Row[]>> {
  const client = await pool.connect();
  // Ignored, because the query rejects as well.
  const ignore = () => undefined;
  client.on('error', ignore);
  const rows = new Map<string, Row[]>();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    for (const table of tables) rows.set(table, (await client.query(`SELECT * FROM ${table}`)).rows as Row[]);
    await client.query('COMMIT');
    client.off('error', ignore);
    client.release();
    return rows;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

type Row = Record<string, unknown>;

function insert(database: DatabaseSync, table: string, rows: readonly Row[]): void {
  const columns = database
    .prepare('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(({ name }) => name as string)
    .filter((name) => rows[0] !== undefined && name in rows[0]);
  if (columns.length === 0) return;
  const places = columns.map(() => '?').join();
  const statement = database.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${places})`);
  for (const row of rows) statement.run(...columns.map((name) => plain(row[name])));
}

function plain(value: unknown): string | number | null {
  return typeof value === 'boolean' ? Number(value) : (value as string | number | null);
}
