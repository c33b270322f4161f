import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { NUMBERS } from '../../src/store/postgres/connection-pool.ts';

/** Application name of the run's own connections, which faults spare. */
const OWN_NAME = 'chaos';
const PATIENCE_MS = 90_000;

export function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 3,
    types: NUMBERS,
    application_name: OWN_NAME,
    connectionTimeoutMillis: 5_000,
  });
  pool.on('error', () => undefined);
  return pool;
}

/** Retries until the database answers; rejects with the last error when it does not come back. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Ends up to `most` random connections of workers; returns how many. */
export async function terminateBackends(pool: pg.Pool, most: number): Promise<number> {
  const { rows } = await pool.query(
    `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname = current_database()
      AND backend_type = 'client backend' AND application_name <> $1 ORDER BY random() LIMIT $2) AS picked`,
    [OWN_NAME, most],
  );
  return rows.length;
}

export interface Unfinished {
  /** Roots known to the ledger. */
  readonly trees: number;
  /** Roots of trees with an agent at work or unread mail. */
  readonly open: readonly string[];
}

export async function unfinished(pool: pg.Pool): Promise<Unfinished> {
  const { rows: open } = await pool.query(
    `SELECT root_id FROM agents WHERE status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting')
      UNION SELECT mail.root_id FROM mail JOIN agents ON agents.id = mail.to_id
      WHERE consumed_seq IS NULL AND status NOT IN ('completed', 'failed', 'killed')`,
  );
  const { rows } = await pool.query('SELECT count(*) AS trees FROM trees');
  return { trees: rows[0].trees, open: open.map(({ root_id }) => root_id as string) };
}
