// Proves on both databases which workers are told that a background run has ended: those that lead queued runs of its tree, and no others.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Agent } from '../../src/records/agent/agent.ts';
import { newTurn } from '../../src/records/agent/state.ts';
import type { NewAgent } from '../../src/records/run/new-agent.ts';
import { openStore } from '../../src/store/open-store.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fresh, newAgent, newRoot, stepOf } from './ledger-fixture.ts';

function withRun(parent: Agent, over: Partial<NewAgent['agent']>): NewAgent {
  const child = newAgent(parent, { origin: 'session', state: { type: 'idle' }, ...over }, []);
  const { id, session_key } = child.agent;
  const requester = { requester_id: parent.id, requester_key: parent.session_key };
  const given = { task: 't', label: null, model: 'fake/m', thinking: 'off', timeout_ms: null } as const;
  const after = { cleanup: 'keep', deliver: [], job_id: null } as const;
  return {
    ...child,
    run: { id: `run-${id}`, source: 'subagent', session_key, ...requester, ...given, ...after },
  };
}

onBothDatabases('queued runs', (database) => {
  it('of the same tree may begin: their leaders get a signal, others none', async () => {
    const store = await openStore((await database()) ?? join(temporaryFolder(), 'ledger.db'));
    const [tree, other] = [await newRoot(store), await newRoot(store)];
    const begun = { type: 'requesting', attempt: 1, turn: newTurn(1) } as const;
    const worker = (name: string) => `${name}-${tree.id}`;
    const made = (parent: Agent, name: string, over: Partial<NewAgent['agent']> = {}) =>
      withRun(parent, { id: randomUUID(), worker: worker(name), ...over });
    const [ends, queued] = [made(tree, 'ends', { state: begun }), made(tree, 'queued')];
    const beside = [
      made(tree, 'running', { state: begun }),
      made(tree, 'delegate', { origin: 'delegate' }),
      made(tree, 'nobody', { worker: null }),
    ];
    const elsewhere = [made(other, 'elsewhere'), made(other, 'busy', { state: begun })];
    const create = async (root: Agent, children: readonly NewAgent[]) => {
      const [verdict] = await store.commit([stepOf(root, { create: children })]);
      assert.ok(verdict?.ok, JSON.stringify(verdict));
    };
    await create(tree, [ends, queued, ...beside]);
    await create(other, elsewhere);
    const last = (await store.agent(ends.agent.id)) as Agent;
    const step = stepOf(await fresh(store, last), { state: { type: 'completed', result: 'r' } });
    assert.ok((await store.commit([step]))[0]?.ok);
    assert.deepEqual(await store.signals(worker('queued')), [
      { agent_id: queued.agent.id, kind: 'status', about: ends.agent.id },
    ]);
    for (const name of ['ends', 'running', 'delegate', 'nobody', 'elsewhere', 'busy'])
      assert.deepEqual(await store.signals(worker(name)), [], name);
    await store.close();
  });
});
