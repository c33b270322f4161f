// Proves that a change of an agent that comes while an older one is being told is told as well.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createdAgent } from '../../../src/kernel/turn/agent-after.ts';
import { ChangedRows } from '../../../src/serve/stream/changed-rows.ts';
import type { ReadSources } from '../../../src/trees/find-agent.ts';
import { newAgent } from '../../store/ledger-fixture.ts';

it('an agent that changes while it is read is told again, and then no more', async () => {
  const agent = { ...createdAgent(newAgent(null)), worker: 'w1' };
  const told: string[] = [];
  const store = {
    askMarks: async () => [],
    agent: async () => {
      rows.agent(agent);
      return null;
    },
  };
  const rows = new ChangedRows({ store, unled: null } as unknown as ReadSources, ({ type }) =>
    told.push(type),
  );
  rows.unread(agent.id);
  await rows.tellAgents();
  assert.deepEqual(told, ['removed']);
  await rows.tellAgents();
  await rows.tellAgents();
  assert.deepEqual(told, ['removed', 'agent']);
});
