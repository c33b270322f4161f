// Proves on both databases that sixteen agents in two operating-system processes that claim a hundred tasks at the same time do each task exactly once, and
// none before those that it depends on.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { alwaysOnBothDatabases } from '../runtime/both-databases.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { child, newRoot } from './ledger-fixture.ts';

const SCRIPT = join(import.meta.dirname, 'task-race.ts');
const TASKS = 100;

alwaysOnBothDatabases('a task list', (database) => {
  it('gives each task to exactly one of sixteen agents in two processes', async () => {
    const address = (await database()) ?? `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
    const store = await openStore(address);
    try {
      const root = await newRoot(store);
      const call = { agent_id: root.id, root_id: root.id, epoch: root.epoch };
      for (let n = 1; n <= TASKS; n += 1)
        await store.changeTasks(
          { ...call, call_id: `add-${n}` },
          // Every tenth task depends on the one before it.
          { action: 'add', title: `task ${n}`, depends_on: n % 10 === 0 ? [n - 1] : [], blocks: [] },
        );
      const ids: string[] = [];
      for (let n = 0; n < 16; n += 1) ids.push((await child(store, root)).id);
      const halves = [ids.slice(0, 8), ids.slice(8)];
      const processes = halves.map((half) => {
        const started = spawn(process.execPath, [SCRIPT, address, ...half], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        return { stdin: started.stdin, lines: createInterface(started.stdout)[Symbol.asyncIterator]() };
      });
      for (const step of ['ready', 'claimed']) {
        for (const { lines } of processes) assert.equal((await lines.next()).value, step);
        for (const { stdin } of processes) stdin.write('go\n');
      }
      const said = await Promise.all(
        processes.map(async ({ lines }) => (await lines.next()).value as string),
      );
      const by = said.flatMap((line) => JSON.parse(line) as number[][]);
      const all = by.flat().sort((a, b) => a - b);
      assert.deepEqual(
        all,
        Array.from({ length: TASKS }, (_, index) => index + 1),
      );
      assert.ok(by.every((one) => one.length > 0));
      const list = await store.tasks(root.id);
      assert.ok(list.every(({ state }) => state === 'done'));
      for (const { number, depends_on, changed_at } of list)
        for (const before of depends_on)
          assert.ok(
            changed_at >= (list[before - 1]?.changed_at ?? Infinity),
            `task ${number} came after ${before}`,
          );
    } finally {
      await store.close();
    }
  });
});
