import { openLedger } from '../ledger/ledger.ts';
import type { OpenStoreOptions, Store } from '../store.ts';
import { inMemoryDatabase, openDatabase } from './open-database.ts';
import { SqliteDatabase } from './sqlite-database.ts';

export function openSqliteStore(path: string, options: OpenStoreOptions): Store {
  return openLedger(new SqliteDatabase(path, openDatabase(path, options.create !== false), options));
}

/** Stands for the ledger that is not there yet, for who only looks: it is empty, and nothing of it lasts. */
export function openEmptyStore(path: string): Store {
  return openLedger(new SqliteDatabase(path, inMemoryDatabase(), {}));
}
