import { randomBytes } from 'node:crypto';
import { closeSync, openSync, realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';

const LOOK_MS = 500;
/** Up to this size, the entries of indexes are checked, too: 2.6 s for 1 GB, and 0.4 s without. */
const INDEXES_BYTES = 200_000_000;

/**
 * Notices when the files of an open ledger are deleted, moved, replaced or emptied. SQLite goes on with those that it has open without a word, and what it
 * commits there ends with the process. What was committed before can still be read through them, and is copied to a new file.
 */
export class LedgerFile {
  readonly #path: string;
  readonly #database: DatabaseSync;
  /** The files as they were when the ledger was opened. */
  readonly #opened: readonly (readonly [path: string, Stats])[];
  readonly #gone = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #error: StoreError | null = null;
  #copied: Promise<void> | null = null;

  constructor(path: string, database: DatabaseSync) {
    this.#path = resolve(path);
    this.#database = database;
    // SQLite follows links before it names the other two.
    const real = realpathSync(this.#path);
    this.#opened = [this.#path, `${real}-wal`, `${real}-shm`].flatMap((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found === undefined ? [] : [[file, found] as const];
    });
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Aborted, with a `StoreError` as reason, when the ledger is gone and has been copied, if it could be. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Throws a `StoreError` if it was noticed that the ledger is gone. */
  assertKnown(): void {
    if (this.#error !== null) throw this.#error;
  }

  /** Looks now, which takes microseconds. Throws a `StoreError` if the ledger is gone. */
  check(): void {
    this.#look();
    this.assertKnown();
  }

  /** Looks for the last time, and waits for the copy; the database can be closed then. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#look();
    await this.#copied;
  }

  #look(): void {
    if (this.#error !== null || !this.#database.isOpen) return;
    const change = this.#opened.map(([file, before]) => changeOf(file, before)).find((one) => one !== null);
    if (change === undefined) return;
    const what = `the ledger is gone: ${change} while in use, so nothing more is accepted or done`;
    this.#error = new StoreError('E_DB_GONE', `${what}; what it held is being copied`);
    this.#copied = this.#copy().then((told) => {
      this.#error = new StoreError('E_DB_GONE', `${what}. ${told}`);
      this.#gone.abort(this.#error);
    });
  }

  /** Copies the pages beside the file, else to where one can write; tells how it went. */
  async #copy(): Promise<string> {
    const time = new Date().toISOString().replaceAll(/\.\d+|\W/g, '');
    const beside = dirname(this.#path);
    let problem = '';
    for (const folder of [beside, homedir(), tmpdir()]) {
      const copy = join(folder, `${basename(this.#path)}.rescued-${time}-${randomBytes(3).toString('hex')}`);
      try {
        // Where its file system was unmounted, the copy would be hidden when that is back.
        if (folder === beside && statSync(folder).dev !== this.#opened[0]?.[1].dev) continue;
        closeSync(openSync(copy, 'wx', 0o600));
        await backup(this.#database, copy);
        const damage = damageOf(copy);
        if (damage !== null) throw new Error(damage);
        return `Everything that was accepted is in ${copy}: stop all programs that use the ledger, then continue with --database ${copy}`;
      } catch (error) {
        problem = (error as Error).message;
        rmSync(copy, { force: true });
      }
    }
    return `It cannot be copied (${problem}): restore a backup`;
  }
}

/** What has happened to a file; null if nothing, or if it cannot be told. */
function changeOf(file: string, before: Stats): string | null {
  try {
    const now = statSync(file, { throwIfNoEntry: false });
    if (now === undefined) return `${file} was deleted or moved`;
    if (now.ino !== before.ino || now.dev !== before.dev) return `${file} was replaced by another file`;
    return before.size > 0 && now.size === 0 && !file.endsWith('-wal') ? `${file} was emptied` : null;
  } catch {
    return null;
  }
}

/** Reads all pages of a ledger: the first damage that it finds, null if there is none. */
export function damageOf(path: string): string | null {
  const check = statSync(path).size > INDEXES_BYTES ? 'quick_check' : 'integrity_check';
  const database = new DatabaseSync(path);
  try {
    const [found] = Object.values(database.prepare(`PRAGMA ${check}(1)`).get() ?? {});
    return found === 'ok' ? null : String(found).replaceAll(/\s+/g, ' ');
  } finally {
    database.close();
  }
}
