/** Why the ledger failed. The message of each error says in one sentence what is wrong and what to do. */
export type StoreErrorCode =
  | 'E_DB_URL'
  | 'E_DB_NONE'
  | 'E_DB_UNREADABLE'
  | 'E_DB_CORRUPT'
  | 'E_DB_NEWER'
  | 'E_DB_READ_ONLY'
  | 'E_DB_FULL'
  | 'E_DB_BUSY'
  | 'E_DB_UNAVAILABLE';

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
