/** The ledger in a SQLite file. */

import { openLedger } from '../ledger/ledger.ts';
import type { OpenStoreOptions, Store } from '../store.ts';
import { inMemoryDatabase, openDatabase } from './open-database.ts';
import { SqliteDatabase } from './sqlite-database.ts';

export function openSqliteStore(path: string, options: OpenStoreOptions): Store {
  return openLedger(new SqliteDatabase(path, openDatabase(path, options.create !== false), options));
}

/** Stands in for a missing ledger in commands that only read. */
export function openEmptyStore(path: string): Store {
  return openLedger(new SqliteDatabase(path, inMemoryDatabase(), {}));
}
