import { DatabaseSync } from 'node:sqlite';

/**
 * A lock between processes, which the system frees when its holder dies: one of SQLite, on a database without any content. The file stays.
 * Throws as `node:sqlite` does.
 */
export class ProcessLock {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: 0 });
  }

  /** False: another one holds it, in this process or in another. */
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

  /** Frees it, too. */
  close(): void {
    this.#database.close();
  }
}
