import { hostname } from 'node:os';
import { isProcessGone } from '../store/process-gone.ts';
import type { KnownWorker } from '../store/store.ts';
import { isoTime } from './iso-time.ts';
import type { WorkerDocument } from './shapes/document-parts.ts';

/** One worker in `coppice/workers/v1`; `agents`: how many it leads. */
export function workerJson(worker: KnownWorker, agents: number): WorkerDocument {
  const { started_at, expires_at, ...rest } = worker;
  return {
    ...rest,
    labels: [...worker.labels],
    state: workerState(worker),
    agents,
    started_at: isoTime(started_at),
    expires_at: isoTime(expires_at),
  };
}

/** `gone`: its process has died; other processes may take over its agents already. */
export function workerState(worker: KnownWorker): WorkerDocument['state'] {
  if (isProcessGone(worker, hostname())) return 'gone';
  return worker.draining ? 'draining' : 'works';
}
