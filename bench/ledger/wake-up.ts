import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../src/store/store.ts';
import { inParallel } from './in-parallel.ts';
import type { WorkerProcess } from './worker-process.ts';

const PATIENCE_MS = 600_000;

export interface WakeUps {
  /** Time from the first letter until all agents are at rest again. */
  readonly all_ms: number;
  /** Time from the first letter until the last one was acknowledged. */
  readonly sent_ms: number;
  /** Time from a letter until its agent is at rest again. */
  readonly p50_ms: number;
  readonly p95_ms: number;
}

/** Sends a letter to each of these parked agents, and waits until each has read it, answered, and is at rest. */
export async function wakeUp(
  store: Store,
  ids: readonly string[],
  worker: WorkerProcess,
  concurrency: number,
): Promise<WakeUps> {
  const began = Date.now();
  const sent = new Map<string, number>();
  await inParallel(ids, concurrency, async (id) => {
    const agent = await store.agent(id);
    sent.set(id, Date.now());
    const verdict = await store.send({
      id: randomUUID(),
      root_id: agent?.root_id ?? '',
      to_id: id,
      from_id: null,
      from_name: 'you',
      kind: 'letter',
      body: 'wake up',
      sent_at: Date.now(),
    });
    if (!verdict.ok) throw new Error(JSON.stringify(verdict));
  });
  const sent_ms = Date.now() - began;
  while (!ids.every((id) => worker.rested.has(id))) {
    if (Date.now() - began > PATIENCE_MS)
      throw new Error(`${worker.rested.size} of ${ids.length} have gone on`);
    await sleep(10);
  }
  await inParallel(ids, concurrency, async (id) => {
    const agent = await store.agent(id);
    if (agent?.state.type !== 'idle' || agent.reply !== 'I have read it.')
      throw new Error(`${id} is not done`);
  });
  const took = ids.map((id) => (worker.rested.get(id) ?? 0) - (sent.get(id) ?? 0)).toSorted((a, b) => a - b);
  const at = (part: number) => took[Math.floor((took.length - 1) * part)] ?? 0;
  const all_ms = Math.max(...ids.map((id) => worker.rested.get(id) ?? 0)) - began;
  return { all_ms, sent_ms, p50_ms: at(0.5), p95_ms: at(0.95) };
}
