import { DatabaseSync } from 'node:sqlite';

/**
 * A lock between processes, which the system frees when its holder dies: an exclusive SQLite transaction on a database without content. The file remains.
 * Throws the errors of `node:sqlite`.
 */
export class ProcessLock {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: 0 });
  }

  /** Returns false if the lock is held by another holder, in this process or in another. */
  take(): boolean {
    try {
      this.#database.exec('BEGIN EXCLUSIVE');
      return true;
    } catch (error) {
      // 5: SQLITE_BUSY
      if ((error as { errcode?: number }).errcode === 5) return false;
      throw error;
    }
  }

  /** Also frees the lock. */
  close(): void {
    this.#database.close();
  }
}
