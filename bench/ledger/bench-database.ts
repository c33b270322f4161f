import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../test/postgres/start-postgres.ts';

/** An empty ledger on the disk. */
export interface BenchDatabase {
  /** Name of the database, with its version. */
  readonly name: string;
  readonly url: string;
  /** Number of concurrent calls of the benchmark. */
  readonly concurrency: number;
  bytes(): Promise<number>;
  /** Transactions, without those of this method, and rows read since the database was created; null if the database does not count them. */
  touched(): Promise<{ readonly transactions: number; readonly rows: number } | null>;
  close(): Promise<void>;
}

export async function openSqlite(): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
  return {
    name: `SQLite ${process.versions.sqlite}, WAL, synchronous=FULL`,
    url: `sqlite:${join(folder, 'ledger.db')}`,
    concurrency: 1,
    bytes: async () => readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0),
    touched: async () => null,
    close: async () => rmSync(folder, { recursive: true }),
  };
}

/** A dedicated server, with fsync. `debian`: of Debian's packages. */
export async function openPostgres({ debian = false } = {}): Promise<BenchDatabase> {
  const server = await startPostgres({ durable: true, debian });
  const url = await server.createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const one = async (sql: string) => (await client.query(sql)).rows[0] as Record<string, string>;
  let looks = 0;
  return {
    name: `PostgreSQL ${(await one('SHOW server_version')).server_version}, fsync=on`,
    url,
    concurrency: 8,
    bytes: async () => Number((await one('SELECT pg_database_size(current_database()) AS n')).n),
    async touched() {
      // Sessions report their counts about once a second.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      looks += 1;
      const sql = `SELECT xact_commit AS n, (SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables) AS rows
        FROM pg_stat_database WHERE datname = current_database()`;
      const { n, rows } = await one(sql);
      return { transactions: Number(n) - looks, rows: Number(rows) };
    },
    async close() {
      await client.end();
      await server.stop();
    },
  };
}
