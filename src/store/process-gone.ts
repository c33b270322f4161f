import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { orElse } from '../records/coppice-error.ts';
import type { KnownWorker, Store, Worker } from './store.ts';

/** Processes that lead trees of the ledger: their lease is valid, and they are not known to be dead. */
export async function livingWorkers(store: Pick<Store, 'workers'>): Promise<KnownWorker[]> {
  return (await store.workers()).filter((worker) => !isProcessGone(worker, hostname()));
}

/** Living servers, which fire schedules and deliver results. */
export async function livingServers(store: Pick<Store, 'workers'>): Promise<KnownWorker[]> {
  return (await livingWorkers(store)).filter(({ role }) => role === 'serve');
}

/** Whether the worker ran on this host and its process no longer exists, which voids its lease at once. */
export function isProcessGone(worker: Worker, host: string): boolean {
  if (worker.host !== host) return false;
  try {
    process.kill(worker.pid, 0);
    return isZombie(worker.pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * Whether the process has ended and was not reaped: if its parent ended with it, init may take a while. Linux only. `processStatus` would load more into each
 * start.
 */
function isZombie(pid: number): boolean {
  const text = orElse(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), '');
  // The state follows the name, which may contain anything.
  return /^[ZX]/.test(text.slice(text.lastIndexOf(')') + 2));
}
