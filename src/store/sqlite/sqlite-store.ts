/** The ledger in a SQLite file. */

import { openLedger } from '../ledger/ledger.ts';
import type { OpenStoreOptions, Store } from '../store.ts';
import { watchLedger } from './ledger-file.ts';
import { inMemoryDatabase, openDatabase } from './open-database.ts';
import { SqliteDatabase } from './sqlite-database.ts';

export function openSqliteStore(path: string, options: OpenStoreOptions): Store {
  const database = openDatabase(path, options.create !== false);
  return openLedger(new SqliteDatabase(path, database, options, watchLedger(path, database)));
}

/** Stands in for a missing ledger in commands that only read. */
export function openEmptyStore(path: string): Store {
  return openLedger(new SqliteDatabase(path, inMemoryDatabase(), {}));
}
