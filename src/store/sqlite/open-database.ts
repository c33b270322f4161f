import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrationsOf, NEWEST_SCHEMA, refuseOtherSchema } from '../schema/migrations.ts';
import { StoreError } from '../store-error.ts';
import { sqliteStoreError } from './sqlite-error.ts';

/** How long a writer waits for the transaction of another process. */
const BUSY_TIMEOUT_MS = 10_000;
/** Size of the page cache: a thousand agents at work touch more than SQLite's default of 2 MB, and would read pages again from the file. */
const CACHE_KIB = 8_000;
const BUSY_PAUSE_MS = 20;
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
/** `PRAGMA application_id` of our files: "Copp". */
const APPLICATION_ID = 0x436f7070;

/** Opens and migrates the file, creating it if `create`; several processes may do so at once. Throws a `StoreError`. */
export function openDatabase(path: string, create: boolean): DatabaseSync {
  const file = resolve(path);
  if (!create && isMissing(file)) throw new StoreError('E_DB_NONE', `there is no ledger at ${file}`);
  prepareFile(file);
  const patience = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
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
      // Where waiting could be a deadlock, SQLite does not wait: two that both make a new file a WAL file, or one that opens it while the last one closes it.
      const is_busy = (error as { readonly errcode?: number }).errcode === SQLITE_BUSY;
      if (!is_busy || performance.now() > patience) throw sqliteStoreError(error, file);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * BUSY_PAUSE_MS);
    }
  }
}

/** Opens an empty ledger in memory, which is lost when it is closed. */
export function inMemoryDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  migrate(database, 'memory');
  return database;
}

/** Whether there is no file, or an empty one. Throws a `StoreError` for a folder that may not be entered. */
function isMissing(file: string): boolean {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    return found === undefined || (found.isFile() && found.size === 0);
  } catch (error) {
    throw sqliteStoreError(error, file);
  }
}

/** Opens an existing file read-only: neither creates nor migrates it. Throws a `StoreError`. */
export function openReadOnly(path: string, timeout_ms: number): DatabaseSync {
  const file = resolve(path);
  let database: DatabaseSync | null = null;
  try {
    refuseNonFile(file);
    database = new DatabaseSync(file, { readOnly: true, timeout: timeout_ms });
    refuseForeign(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw sqliteStoreError(error, file);
  }
}

/** Creates the file and its folder if they are missing; only their owner may read them, because the ledger holds conversations. */
function prepareFile(file: string): void {
  try {
    createFolder(dirname(file));
    if (existsSync(file)) {
      refuseNonFile(file);
      return;
    }
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw sqliteStoreError(error, file);
  }
}

/** Like `mkdirSync` with `recursive`, which never returns where no folder can be created (`/proc/x/y`). */
function createFolder(folder: string, missing = true): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && missing) {
      createFolder(dirname(folder));
      createFolder(folder, false);
    } else if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** Throws a `StoreError` if a ledger could not be created at the path. Leaves nothing behind. */
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

/** Throws a `StoreError` for anything but a file: opening a pipe would block. Throws the system's error if nothing exists there. */
function refuseNonFile(file: string): void {
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
  // Tables first: a process that is creating the file commits tables and id together, so visible tables imply a visible id.
  const tables = (database.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number }).n;
  if (tables > 0 && !isOurs(database)) {
    throw new StoreError(
      'E_DB_UNREADABLE',
      `${file} is a database of another program: choose another file with --database`,
    );
  }
}

function migrate(database: DatabaseSync, file: string): void {
  const version = () =>
    (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
  if (version() === NEWEST_SCHEMA) return;
  // Lock before reading the version, so that of two processes one migrates and the other finds it done.
  database.exec('BEGIN IMMEDIATE');
  try {
    const present = version();
    refuseOtherSchema(present, file);
    if (present < 0 || (present === 0 && isOurs(database))) throw notThatSchema(file, present);
    for (const migration of migrationsOf('sqlite')) {
      if (migration.number <= present) continue;
      database.exec(migration.sql);
      database.exec(`PRAGMA user_version = ${migration.number}`);
    }
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec('COMMIT');
  } catch (error) {
    // A full disk has ended the transaction already.
    if (database.isTransaction) database.exec('ROLLBACK');
    // A migration does not fit the existing tables.
    if ((error as { readonly errcode?: number }).errcode === SQLITE_ERROR)
      throw notThatSchema(file, version(), error);
    throw error;
  }
}

function notThatSchema(file: string, version: number, cause?: unknown): StoreError {
  return new StoreError(
    'E_DB_CORRUPT',
    `database ${file}: its schema number is ${version}, but its tables do not match: restore a backup, or choose another file with --database`,
    { cause },
  );
}

function isOurs(database: DatabaseSync): boolean {
  const row = database.prepare('PRAGMA application_id').get() as { application_id: number };
  return row.application_id === APPLICATION_ID;
}
