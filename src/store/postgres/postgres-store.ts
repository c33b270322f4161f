/** The ledger on a PostgreSQL server. */

import { openLedger } from '../ledger/ledger.ts';
import type { OpenStoreOptions, Store } from '../store.ts';
import { ConnectionPool } from './connection-pool.ts';
import { Listener } from './listener.ts';
import { migrate } from './migrate.ts';
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
