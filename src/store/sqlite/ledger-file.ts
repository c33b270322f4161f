import { randomUUID } from 'node:crypto';
import { closeSync, openSync, realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';

const LOOK_MS = 500;
/** Up to this size, the entries of indexes are checked, too: 2.6 s for 1 GB, and 0.4 s without. */
const INDEXES_BYTES = 200_000_000;

export interface LedgerFile {
  /** Aborted, with a `StoreError` as reason, when the ledger is gone and was copied, or cannot be. */
  readonly gone: AbortSignal;
  /** Looks at the file itself now, which takes microseconds; the timer looks at those beside it, too. Throws a `StoreError` if the ledger is gone. */
  check(): void;
  /** Looks for the last time, and waits for the copy; the database can be closed then. */
  close(): Promise<void>;
}

/**
 * Notices when files of the ledger are deleted, moved, replaced or emptied. SQLite goes on with those that it has open without a word, and what it commits
 * there ends with the process. What was committed before can still be read through them, and is copied to a new file.
 */
export function watchLedger(path: string, database: DatabaseSync): LedgerFile {
  const file = resolve(path);
  // SQLite follows links before it names the other two.
  const real = realpathSync(file);
  const opened = [file, `${real}-wal`, `${real}-shm`].map(
    (name) => [name, statSync(name, { throwIfNoEntry: false })] as const,
  );
  const gone = new AbortController();
  let [error, copied]: [StoreError | null, Promise<void> | null] = [null, null];
  const look = (files: typeof opened) => {
    const change = error === null && database.isOpen && files.map(changeOf).find((one) => one !== null);
    if (typeof change !== 'string') return;
    const what = `the ledger is gone: ${change} while in use, so nothing more is accepted or done`;
    error = new StoreError('E_DB_GONE', `${what}; what it held is being copied`);
    copied = copyOf(database, file, opened[0]?.[1]?.dev).then((told) => {
      error = new StoreError('E_DB_GONE', `${what}. ${told}`);
      gone.abort(error);
    });
  };
  const timer = setInterval(() => look(opened), LOOK_MS).unref();
  const ledger = opened.slice(0, 1);
  return {
    gone: gone.signal,
    check: () => {
      look(ledger);
      if (error !== null) throw error;
    },
    close: async () => {
      clearInterval(timer);
      look(opened);
      await copied;
    },
  };
}

/** What has happened to a file since; null if nothing, or if it cannot be told. */
function changeOf([file, before]: readonly [string, Stats | undefined]): string | null {
  try {
    const now = statSync(file, { throwIfNoEntry: false });
    if (before === undefined) return null;
    if (now === undefined) return `${file} was deleted or moved`;
    if (now.ino !== before.ino || now.dev !== before.dev) return `${file} was replaced by another file`;
    return before.size > 0 && now.size === 0 && !file.endsWith('-wal') ? `${file} was emptied` : null;
  } catch {
    return null;
  }
}

/** Copies the pages to beside the file, which was on the device `dev`, else to where one can write; tells how it went. */
async function copyOf(database: DatabaseSync, file: string, dev?: number): Promise<string> {
  const name = `${basename(file)}.rescued-${new Date().toISOString().replaceAll(/\W/g, '')}-${randomUUID().slice(0, 6)}`;
  let problem = '';
  // Where the file system of the ledger was unmounted, a copy in its place would be hidden once it is back.
  for (const folder of [dirname(file), homedir(), tmpdir()]) {
    const copy = join(folder, name);
    try {
      if (folder === dirname(file) && statSync(folder).dev !== dev) continue;
      closeSync(openSync(copy, 'wx', 0o600));
      await backup(database, copy);
      problem = damageOf(copy) ?? '';
      if (problem === '')
        return `Everything that was accepted is in ${copy}: stop all programs that use the ledger, then continue with --database ${copy}`;
    } catch (error) {
      problem = (error as Error).message;
    }
    rmSync(copy, { force: true });
  }
  return `It cannot be copied (${problem}): restore a backup`;
}

/** Reads all pages of a ledger: the first damage that it finds, null if there is none. */
export function damageOf(path: string): string | null {
  const database = new DatabaseSync(path);
  try {
    const check = statSync(path).size > INDEXES_BYTES ? 'quick_check' : 'integrity_check';
    const [found] = Object.values(database.prepare(`PRAGMA ${check}(1)`).get() ?? {});
    return found === 'ok' ? null : String(found).replaceAll(/\s+/g, ' ');
  } finally {
    database.close();
  }
}
