import type { Worker } from './store.ts';

/** The worker ran on this host and its process no longer exists, which voids its lease at once. */
export function isProcessGone(worker: Worker, host: string): boolean {
  if (worker.host !== host) return false;
  try {
    process.kill(worker.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
