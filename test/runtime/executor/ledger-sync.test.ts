// Proves that mail which came just before an agent was taken over is read once it is led here: once, for each of two agents, and again the next time.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import { LedgerSync } from '../../../src/runtime/executor/ledger-sync.ts';

function syncing() {
  const read: string[] = [];
  const cells = new Map<string, Cell>();
  const store = {
    mail: async (id: string) => {
      read.push(id);
      return [];
    },
  };
  const options = { store, cells, wake: () => undefined };
  const sync = new LedgerSync(options as unknown as ConstructorParameters<typeof LedgerSync>[0]);
  const lead = (id: string) => {
    cells.set(id, { inbox: { read_through: 0, add: () => undefined } } as unknown as Cell);
    sync.adopted(id);
  };
  return { sync, read, lead, leave: (id: string) => cells.delete(id) };
}

it('of two agents, each when it is led; one without mail reads nothing', async () => {
  const { sync, read, lead, leave } = syncing();
  for (const id of ['a', 'b']) await sync.checkMail(id);
  for (const id of ['b', 'c']) lead(id);
  assert.deepEqual(read, ['b']);
  lead('a');
  assert.deepEqual(read, ['b', 'a']);
  leave('a');
  lead('a');
  assert.deepEqual(read, ['b', 'a'], 'it was read');
  leave('a');
  sync.noteEarlyMail('a');
  lead('a');
  assert.deepEqual(read, ['b', 'a', 'a']);
});
