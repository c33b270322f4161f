/**
 * A separate process whose agents claim and finish the tasks of their tree until none is left; prints the numbers that each finished, as JSON. Each agent
 * first claims one task and reports it, so that all hold one at the same time before any continues.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.ts';
import { StoreError } from '../../src/store/store-error.ts';

const [address = '', ...ids] = process.argv.slice(2);
const store = await openStore(address);

/** Retries the call, as the executor does, while other processes keep the ledger locked. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError) || !error.retryable) throw error;
      await sleep(50);
    }
}

async function claim(id: string, call_id: string) {
  const agent = await store.agent(id);
  if (agent === null) throw new Error(`no agent ${id}`);
  const call = { agent_id: id, root_id: agent.root_id, epoch: agent.epoch, call_id };
  const claimed = await insist(() => store.changeTasks(call, { action: 'claim', number: null }));
  if (!claimed.ok) throw new Error(claimed.error);
  return { call, blocked: claimed.output.blocked, task: claimed.output.task as { number: number } | null };
}

async function finishAll(id: string): Promise<number[]> {
  const numbers: number[] = [];
  for (let count = 1; ; count += 1) {
    const { call, task, blocked } = await claim(id, `claim-${count}`);
    if (task === null && blocked === 0) return numbers;
    if (task === null) {
      await sleep(1);
      continue;
    }
    const { number } = task;
    const done = await insist(() =>
      store.changeTasks({ ...call, call_id: `done-${count}` }, { action: 'done', number, result: id }),
    );
    if (!done.ok) throw new Error(done.error);
    numbers.push(number);
  }
}

async function signalled(text: string): Promise<void> {
  process.stdout.write(`${text}\n`);
  await once(process.stdin, 'data');
}

await signalled('ready');
await Promise.all(ids.map((id) => claim(id, 'claim-0')));
await signalled('claimed');
process.stdin.destroy();
process.stdout.write(JSON.stringify(await Promise.all(ids.map(finishAll))));
await store.close();
