/** Why the ledger failed. The message of each error says in one sentence what is wrong and what to do. */
export type StoreErrorCode =
  | 'E_DB_URL'
  | 'E_DB_NONE'
  | 'E_DB_UNREADABLE'
  | 'E_DB_CORRUPT'
  | 'E_DB_NEWER'
  | 'E_DB_OLDER'
  | 'E_DB_READ_ONLY'
  | 'E_DB_FULL'
  | 'E_DB_BUSY'
  | 'E_DB_UNAVAILABLE'
  | 'E_DB_GONE';

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;

  constructor(code: StoreErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
    this.retryable = code === 'E_DB_BUSY' || code === 'E_DB_UNAVAILABLE' || code === 'E_DB_FULL';
  }
}

/** SQLite's primary result codes for a value that is too large, breaks a constraint, has another type, or is no parameter. */
const SQLITE_DATA: ReadonlySet<number> = new Set([18, 19, 20, 25]);
/** Classes of PostgreSQL's error codes: data exceptions, violated constraints, and exceeded limits, such as that of an index row. */
const POSTGRES_DATA = /^(?:22|23|54)/;

/** Whether a write failed because of what was to be written, so that the same write would always fail. */
export function isInvalidData(error: unknown): error is Error {
  if (error instanceof StoreError) return !error.retryable && isInvalidData(error.cause);
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const { errcode, code } = error as { readonly errcode?: number; readonly code?: string };
  return errcode === undefined ? POSTGRES_DATA.test(code ?? '') : SQLITE_DATA.has(errcode & 0xff);
}
