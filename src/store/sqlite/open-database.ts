import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { SQLITE_MIGRATIONS } from './migrations.ts';
import { sqliteStoreError } from './sqlite-error.ts';

/** How long a writer waits for another process's transaction. */
const BUSY_TIMEOUT_MS = 10_000;
/** Pages kept in memory: a thousand agents at work touch more than the 2 MB that SQLite keeps by itself, and read them again from the file. */
const CACHE_KIB = 8_000;
const SQLITE_ERROR = 1;
/** `PRAGMA application_id` of our files: "Copp". */
const APPLICATION_ID = 0x436f7070;

/** Opens, creates (unless told not to) and migrates the file; two processes may do so at once. Throws a `StoreError`. */
export function openDatabase(path: string, create: boolean): DatabaseSync {
  const file = resolve(path);
  if (!create && isMissing(file)) throw new StoreError('E_DB_NONE', `there is no ledger at ${file}`);
  prepareFile(file);
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    refuseForeign(database, file);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;');
    database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    migrate(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw sqliteStoreError(error, file);
  }
}

/** A ledger without anything in it, that nobody else sees and that is gone when it is closed. */
export function inMemoryDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  migrate(database, 'memory');
  return database;
}

/** Nobody has made a ledger there; a file without a byte is none. */
function isMissing(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined || (found.isFile() && found.size === 0);
}

/** Opens a file that is there, to look only: it is neither created nor migrated. Throws a `StoreError`. */
export function openReadOnly(path: string, timeout_ms: number): DatabaseSync {
  const file = resolve(path);
  let database: DatabaseSync | null = null;
  try {
    refuseNoFile(file);
    database = new DatabaseSync(file, { readOnly: true, timeout: timeout_ms });
    refuseForeign(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw sqliteStoreError(error, file);
  }
}

/** The ledger holds conversations: only its owner may read it. */
function prepareFile(file: string): void {
  try {
    makeFolder(dirname(file));
    if (existsSync(file)) {
      refuseNoFile(file);
      return;
    }
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw sqliteStoreError(error, file);
  }
}

/** As `recursive` of `mkdirSync`, which tries for ever where the system has no folder to make one in (`/proc/x/y`). */
function makeFolder(folder: string, missing = true): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && missing) {
      makeFolder(dirname(folder));
      makeFolder(folder, false);
    } else if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** Throws a `StoreError` when no ledger could be made there. Nothing is left behind. */
export function assertCreatable(path: string): void {
  const file = resolve(path);
  let above = dirname(file);
  while (!existsSync(above)) above = dirname(above);
  try {
    rmdirSync(mkdtempSync(join(above, '.coppice-')));
  } catch (error) {
    throw sqliteStoreError(error, file);
  }
}

/** Opening a pipe would wait for whoever writes into it. Throws what the system throws when nothing is there. */
function refuseNoFile(file: string): void {
  const found = statSync(file);
  if (found.isFile()) return;
  const kind = found.isDirectory()
    ? 'a folder'
    : found.isFIFO()
      ? 'a pipe'
      : found.isSocket()
        ? 'a socket'
        : 'a device';
  throw new StoreError('E_DB_UNREADABLE', `${file} is ${kind}, not a database: name a file`);
}

function refuseForeign(database: DatabaseSync, file: string): void {
  // Tables first: another process that creates the file now commits both at once, so tables seen have their mark.
  const tables = (database.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number }).n;
  if (tables > 0 && !isOurs(database)) {
    throw new StoreError(
      'E_DB_UNREADABLE',
      `${file} is a database of another program: choose another file with --database`,
    );
  }
}

function migrate(database: DatabaseSync, file: string): void {
  const newest = SQLITE_MIGRATIONS.at(-1)?.number ?? 0;
  const version = () =>
    (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
  if (version() === newest) return;
  // The lock comes first, so that of two processes one migrates and the other finds it done.
  database.exec('BEGIN IMMEDIATE');
  try {
    const present = version();
    if (present > newest) {
      throw new StoreError(
        'E_DB_NEWER',
        `${file} was written by a newer Coppice (schema ${present}, this one knows ${newest}): update Coppice, or choose another file with --database`,
      );
    }
    if (present < 0 || (present === 0 && isOurs(database))) throw notThatSchema(file, present);
    for (const migration of SQLITE_MIGRATIONS) {
      if (migration.number <= present) continue;
      database.exec(migration.sql);
      database.exec(`PRAGMA user_version = ${migration.number}`);
    }
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    // A migration that does not fit the tables that are there.
    if ((error as { readonly errcode?: number }).errcode === SQLITE_ERROR)
      throw notThatSchema(file, version(), error);
    throw error;
  }
}

function notThatSchema(file: string, version: number, cause?: unknown): StoreError {
  return new StoreError(
    'E_DB_CORRUPT',
    `database ${file}: it says that it has schema ${version}, and its tables are others: restore a backup, or choose another file with --database`,
    { cause },
  );
}

function isOurs(database: DatabaseSync): boolean {
  const row = database.prepare('PRAGMA application_id').get() as { application_id: number };
  return row.application_id === APPLICATION_ID;
}
