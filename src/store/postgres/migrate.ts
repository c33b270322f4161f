import type pg from 'pg';
import { StoreError } from '../store-error.ts';
import { CRON_FUNCTIONS } from './cron-functions.ts';
import { FUNCTIONS } from './functions.ts';
import { POSTGRES_MIGRATIONS } from './schema.ts';

/** Any number; everybody who migrates takes this lock first. */
const LOCK = 7_263_548_119;

/** Brings the schema up to date; of several processes that open at once, one does it. */
export async function migrate(pool: pg.Pool, location: string): Promise<void> {
  const newest = POSTGRES_MIGRATIONS.at(-1)?.number ?? 0;
  const client = await pool.connect();
  // A connection that breaks also says so outside of any query, and nobody listening would end the process; the query rejects.
  const ignore = () => undefined;
  client.on('error', ignore);
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS coppice_migrations (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const { rows } = await client.query('SELECT coalesce(max(number), 0) AS present FROM coppice_migrations');
    const present = Number(rows[0].present);
    if (present > newest) {
      throw new StoreError(
        'E_DB_NEWER',
        `${location} was written by a newer Coppice (schema ${present}, this one knows ${newest}): update Coppice, or use another database`,
      );
    }
    for (const migration of POSTGRES_MIGRATIONS) {
      if (migration.number <= present) continue;
      await client.query('INSERT INTO coppice_migrations (number) VALUES ($1)', [migration.number]);
      await client.query(migration.sql);
    }
    // The steps live in functions that follow the schema: every migration brings the newest of them.
    if (present < newest) await client.query(FUNCTIONS + CRON_FUNCTIONS);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release();
  }
}
