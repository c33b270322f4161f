import { hostname } from 'node:os';
import type { Run } from '../../records/run/run.ts';
import { isProcessGone } from '../../store/process-gone.ts';
import type { KnownWorker, Store } from '../../store/store.ts';

/** Processes that hold their lease, without those that are known to be dead. */
export async function livingWorkers(store: Store): Promise<KnownWorker[]> {
  return (await store.workers()).filter((one) => !isProcessGone(one, hostname()));
}

/** Which of these runs a living process leads now; the others wait in the ledger for somebody who goes on with them. */
export async function ledRuns(store: Store, runs: readonly Run[]): Promise<ReadonlySet<Run>> {
  const alive = new Set((await livingWorkers(store)).map((one) => one.id));
  const led = new Set<Run>();
  for (const run of runs) {
    const worker = (await store.agent(run.agent_id))?.worker ?? null;
    if (worker !== null && alive.has(worker)) led.add(run);
  }
  return led;
}
