import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessLock } from '../../processes/process-lock.ts';

const PAUSE_MS = 2;
const WAIT_MS = 10_000;

/** Runs `change`, which must be synchronous, under a lock that all processes with the same data folder share. */
export async function withFileLock<T>(folder: string, signal: AbortSignal, change: () => T): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const lock = new ProcessLock(join(folder, 'changes.lock'));
  try {
    for (let waited_ms = 0; !lock.take(); waited_ms += PAUSE_MS) {
      if (waited_ms >= WAIT_MS) throw new Error('another process keeps changing files: try again');
      await sleep(PAUSE_MS, undefined, { signal });
    }
    return change();
  } finally {
    lock.close();
  }
}
