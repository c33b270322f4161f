import { StoreError, type StoreErrorCode } from '../store-error.ts';

/** Result codes of SQLite, extended ones before primary ones (https://sqlite.org/rescode.html). */
const BY_CODE: Readonly<Record<number, readonly [StoreErrorCode, string]>> = {
  5: ['E_DB_BUSY', 'another process keeps it locked: try again, or see who uses it'],
  6: ['E_DB_BUSY', 'another process keeps it locked: try again, or see who uses it'],
  8: [
    'E_DB_READ_ONLY',
    'it cannot be written: check the permissions of the file and its folder, or choose another with --database',
  ],
  10: ['E_DB_UNAVAILABLE', 'the disk reported an error: check the disk'],
  11: ['E_DB_CORRUPT', 'the file is damaged: restore a backup, or move it away to start anew'],
  13: ['E_DB_FULL', 'the disk is full: free some space'],
  // SQLITE_IOERR_WRITE, also after a quota or `ulimit -f`, and SQLITE_IOERR_SHMSIZE.
  778: ['E_DB_FULL', 'it cannot grow: free some space, raise the quota or limit, or check the disk'],
  4874: ['E_DB_FULL', 'the disk is full: free some space'],
  14: ['E_DB_UNREADABLE', 'it cannot be opened: check the path and its permissions'],
  26: [
    'E_DB_CORRUPT',
    'the file is not a database: restore a backup, or choose another file with --database',
  ],
};

/** Tools write below the same folder, which --database does not move. */
const ELSEWHERE =
  'or name another folder with XDG_DATA_HOME: for the ledger, what tools write, and worktrees (--database moves only the ledger)';

const BY_SYSTEM_CODE: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  EACCES: ['E_DB_READ_ONLY', `no permission: check the folder, ${ELSEWHERE}`],
  EPERM: ['E_DB_READ_ONLY', `no permission: check the folder, ${ELSEWHERE}`],
  EROFS: ['E_DB_READ_ONLY', `the file system is read-only, ${ELSEWHERE}`],
  ENOSPC: ['E_DB_FULL', 'the disk is full: free some space'],
  EEXIST: ['E_DB_UNREADABLE', 'a part of its path is not a folder'],
  ELOOP: ['E_DB_UNREADABLE', 'its symbolic links form a loop: check the path'],
  ENAMETOOLONG: ['E_DB_UNREADABLE', 'its path is too long'],
  ENOENT: ['E_DB_UNREADABLE', 'there is nothing at that path, or it is a link that leads nowhere: check it'],
  EMFILE: ['E_DB_BUSY', 'this process has too many files open: close some, or raise the limit (ulimit -n)'],
  ENOTDIR: ['E_DB_UNREADABLE', 'a part of its path is not a folder'],
};

/** Turns what SQLite or the file system threw into one sentence; other errors are bugs and pass through. */
export function sqliteStoreError(error: unknown, file: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const { errcode, code } = error as { readonly errcode?: number; readonly code?: string };
  const known =
    errcode === undefined ? BY_SYSTEM_CODE[code ?? ''] : (BY_CODE[errcode] ?? BY_CODE[errcode & 0xff]);
  if (known === undefined) return error;
  return new StoreError(known[0], `database ${file}: ${known[1]}`, { cause: error });
}
