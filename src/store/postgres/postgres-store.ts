/** The ledger on a PostgreSQL server. */

import type pg from 'pg';
import { openLedger } from '../ledger/ledger.ts';
import { migrationsOf, NEWEST_SCHEMA, refuseOtherSchema } from '../schema/migrations.ts';
import type { OpenStoreOptions, Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { ConnectionPool } from './connection-pool.ts';
import { FUNCTIONS } from './functions.ts';
import { Listener } from './listener.ts';
import { postgresAddress } from './postgres-address.ts';
import { PostgresDatabase } from './postgres-database.ts';
import { postgresStoreError } from './postgres-error.ts';

/** `COPPICE_LISTEN_URL` in `env`: the direct address for `LISTEN` if the server is behind a pooler. */
export async function openPostgresStore(
  url: string,
  options: OpenStoreOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Store> {
  const address = postgresAddress(url, env);
  const { location } = address;
  const pool = new ConnectionPool(address);
  try {
    await pool.dedicated((client) => migrate(client, location, options.create !== false));
  } catch (error) {
    await pool.end();
    throw postgresStoreError(error, location, { opening: true });
  }
  const listener = new Listener(
    options.notifications === false ? null : address.listen_url,
    options.polls !== false,
  );
  // A separate address for LISTEN bypasses the pooler.
  if (address.listen_url === address.url) pool.onPooler = () => void listener.pollOnly();
  return openLedger(new PostgresDatabase(pool, location, listener));
}

/** An arbitrary number: the advisory lock that every migrating process takes first. */
const LOCK = 7_263_548_119;

/**
 * Brings the schema up to date; of several processes that open the ledger at once, one does it. The lock belongs to the transaction, so it works behind a
 * pooler and ends with its process.
 */
export async function migrate(client: pg.ClientBase, location: string, create: boolean): Promise<void> {
  if (!create && (await isMissing(client)))
    throw new StoreError('E_DB_NONE', `there is no ledger at ${location}`);
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS coppice_migrations (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const { rows } = await client.query(
      'SELECT coalesce(max(number), 0) AS present, getdatabaseencoding() AS encoding FROM coppice_migrations',
    );
    const present = Number(rows[0].present);
    // Else the first word of a model that it cannot hold would stop a run in the middle.
    if (present === 0 && !['UTF8', 'SQL_ASCII'].includes(rows[0].encoding))
      throw new StoreError(
        'E_DB_UNREADABLE',
        `database ${location}: its encoding is ${rows[0].encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`,
      );
    refuseOtherSchema(present, location);
    for (const migration of migrationsOf('postgres')) {
      if (migration.number <= present) continue;
      await client.query('INSERT INTO coppice_migrations (number) VALUES ($1)', [migration.number]);
      await client.query(migration.sql);
    }
    // The functions follow the schema: every migration installs the newest.
    if (present < NEWEST_SCHEMA) await client.query(FUNCTIONS);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function isMissing(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query("SELECT to_regclass('coppice_migrations') AS found");
  return rows[0].found === null;
}
