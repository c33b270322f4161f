import { databaseAddress } from './database-address.ts';
import type { LedgerGlance } from './sqlite/ledger-glance.ts';
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

export type { LedgerGlance };

/** A short look at a ledger that changes nothing of it. Null for a server: it is not asked while somebody types. Rejects when the file cannot be read. */
export async function openGlance(url: string): Promise<LedgerGlance | null> {
  const address = databaseAddress(url);
  if (address.kind !== 'sqlite') return null;
  const { LedgerGlance } = await import('./sqlite/ledger-glance.ts');
  return new LedgerGlance(address.path);
}
