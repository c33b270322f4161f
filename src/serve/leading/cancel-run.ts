import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoppiceError } from '../../records/coppice-error.ts';
import { isFinished, type Run } from '../../records/run/run.ts';
import type { Store } from '../../store/store.ts';
import { ledRuns } from './leaders.ts';

/** Grace period for the process that leads the run to stop it, before the run is killed. */
const STOP_MS = 3_000;
const POLL_MS = 50;

/**
 * Asks the process that leads the run to stop it, which keeps what was done; kills the run if no process leads it, or if it does not stop in time.
 * Rejects with `E_RUN_FINISHED`.
 */
export async function cancelRun(store: Store, run: Run): Promise<Run> {
  if (isFinished(run.status))
    throw new CoppiceError('E_RUN_FINISHED', `the run ${run.id} has ended already: ${run.status}`, {
      hint: `See: coppice subagent show ${run.id.slice(0, 8)}`,
    });
  if ((await ledRuns(store, [run])).has(run)) await askToStop(store, run);
  else await store.kill(run.agent_id, 'you', Date.now());
  return (await store.findRuns(run.id))[0] ?? run;
}

async function askToStop(store: Store, run: Run): Promise<void> {
  await store.send({
    id: randomUUID(),
    root_id: run.root_id,
    to_id: run.agent_id,
    from_id: null,
    from_name: 'you',
    kind: 'control',
    body: JSON.stringify({ type: 'cancel', reason: 'cancelled by you' }),
    sent_at: Date.now(),
  });
  for (let waited = 0; waited < STOP_MS; waited += POLL_MS) {
    const [now] = await store.findRuns(run.id);
    if (now === undefined || isFinished(now.status)) return;
    await sleep(POLL_MS);
  }
  await store.kill(run.agent_id, 'you', Date.now());
}
