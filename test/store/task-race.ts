/**
 * A process of its own whose agents claim and finish the tasks of their tree until none is left; prints the numbers that each finished, as JSON. First each claims one
 * task, and says so: all hold one at the same time before any goes on.
 */
import { once } from 'node:events';
import { openStore } from '../../src/store/open-store.ts';

const [address = '', ...ids] = process.argv.slice(2);
const store = await openStore(address);

async function claim(id: string, call_id: string) {
  const agent = await store.agent(id);
  if (agent === null) throw new Error(`no agent ${id}`);
  const call = { agent_id: id, root_id: agent.root_id, epoch: agent.epoch, call_id };
  const claimed = await store.changeTasks(call, { action: 'claim', number: null });
  if (!claimed.ok) throw new Error(claimed.error);
  return { call, blocked: claimed.output.blocked, task: claimed.output.task as { number: number } | null };
}

async function finishAll(id: string): Promise<number[]> {
  const numbers: number[] = [];
  for (let count = 1; ; count += 1) {
    const { call, task, blocked } = await claim(id, `claim-${count}`);
    if (task === null && blocked === 0) return numbers;
    if (task === null) continue;
    const { number } = task;
    const done = await store.changeTasks(
      { ...call, call_id: `done-${count}` },
      { action: 'done', number, result: id },
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
