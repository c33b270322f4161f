import type { OpenStoreOptions, Store } from './store.ts';
import { StoreError } from './store-error.ts';

/**
 * Opens the ledger at `sqlite:PATH`, a plain path, or `postgres://…`. Creates and migrates it when needed. Rejects with a
 * `StoreError`.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgresStore } = await import('./postgres/postgres-store.ts');
    return openPostgresStore(url, options);
  }
  const scheme = /^([a-z][a-z0-9+]*):\/\//i.exec(url)?.[1];
  if (scheme !== undefined && scheme !== 'sqlite') {
    throw new StoreError(
      'E_DB_URL',
      `no database adapter for "${scheme}://": use sqlite:PATH or postgres://USER@HOST/NAME`,
    );
  }
  const path = url.replace(/^sqlite:(\/\/)?/, '');
  if (path === '') throw new StoreError('E_DB_URL', 'the database URL names no file: use sqlite:PATH');
  const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
  return openSqliteStore(path, options);
}
