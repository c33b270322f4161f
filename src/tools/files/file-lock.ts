import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 2;
const WAIT_MS = 10_000;

/**
 * Runs `change`, which must be synchronous, while no other process that uses the same data folder runs one. The system frees the lock of a
 * process that dies: it is one of SQLite, on a database without any content.
 */
export async function withFileLock<T>(folder: string, signal: AbortSignal, change: () => T): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const lock = new DatabaseSync(join(folder, 'changes.lock'), { timeout: 0 });
  try {
    for (let waited_ms = 0; !taken(lock); waited_ms += PAUSE_MS) {
      if (waited_ms >= WAIT_MS) throw new Error('another process keeps changing files: try again');
      await sleep(PAUSE_MS, undefined, { signal });
    }
    return change();
  } finally {
    lock.close();
  }
}

function taken(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    // 5: SQLITE_BUSY
    if ((error as { errcode?: number }).errcode === 5) return false;
    throw error;
  }
}
