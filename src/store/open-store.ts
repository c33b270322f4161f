import { databaseAddress } from './database-address.ts';
import type { OpenStoreOptions, Store } from './store.ts';

/**
 * Opens the ledger at `sqlite:PATH`, a plain path, or `postgres://…`. Creates and migrates it when needed. Rejects with a
 * `StoreError`.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const address = databaseAddress(url);
  if (address.kind === 'postgres') {
    const { openPostgresStore } = await import('./postgres/postgres-store.ts');
    return openPostgresStore(address.url, options);
  }
  const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
  return openSqliteStore(address.path, options);
}
