import { databaseAddress } from './database-address.ts';
import type { ReadOnlyLedger } from './sqlite/read-only-ledger.ts';
import type { OpenStoreOptions, Store } from './store.ts';

/** Opens the ledger at `sqlite:PATH`, a plain path, or `postgres://…`; creates and migrates it when needed. Rejects with a `StoreError`. */
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

/**
 * Opens the ledger for shell completion, which never changes it. Resolves to null for a server: completion makes no network requests. Rejects when the file
 * cannot be read.
 */
export async function openReadOnlyLedger(url: string): Promise<ReadOnlyLedger | null> {
  const address = databaseAddress(url);
  if (address.kind !== 'sqlite') return null;
  const { ReadOnlyLedger } = await import('./sqlite/read-only-ledger.ts');
  return new ReadOnlyLedger(address.path);
}
