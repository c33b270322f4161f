import { hostname } from 'node:os';
import { isProcessGone } from '../store/process-gone.ts';
import type { KnownWorker, Store } from '../store/store.ts';
import { isoTime } from './iso-time.ts';
import type { WorkerDocument } from './shapes/document-parts.ts';

/** `workers` of `coppice/workers/v1`, oldest first. */
export async function workersJson(store: Store): Promise<readonly WorkerDocument[]> {
  const workers = await store.workers();
  const led = await store.ledBy(workers.map(({ id }) => id));
  return workers.map((worker) => workerJson(worker, led.get(worker.id) ?? 0));
}

function workerJson(worker: KnownWorker, agents: number): WorkerDocument {
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

/** `gone`: its process has died; other processes may already take over its agents. */
function workerState(worker: KnownWorker): WorkerDocument['state'] {
  if (isProcessGone(worker, hostname())) return 'gone';
  return worker.draining ? 'draining' : 'works';
}
