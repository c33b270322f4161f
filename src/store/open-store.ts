import { databaseAddress } from './database-address.ts';
import type { ReadOnlyLedger } from './sqlite/read-only-ledger.ts';
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

export type { ReadOnlyLedger };

/** A short look at a ledger that changes nothing of it. Null for a server: it is not asked while somebody types. Rejects when the file cannot be read. */
export async function openReadOnlyLedger(url: string): Promise<ReadOnlyLedger | null> {
  const address = databaseAddress(url);
  if (address.kind !== 'sqlite') return null;
  const { ReadOnlyLedger } = await import('./sqlite/read-only-ledger.ts');
  return new ReadOnlyLedger(address.path);
}
