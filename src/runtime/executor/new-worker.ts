import { hostname } from 'node:os';
import type { Worker } from '../../store/store.ts';
import type { ExecutorOptions } from './executor-options.ts';

/** This process as the ledger knows it; each runtime is a worker of its own. */
export function newWorker({
  surroundings,
  role,
  labels,
}: Pick<ExecutorOptions, 'surroundings' | 'role' | 'labels'>): Worker {
  return { id: surroundings.newId(), host: hostname(), pid: process.pid, role, labels };
}
