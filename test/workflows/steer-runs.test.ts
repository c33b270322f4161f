// Proves whom an order about a workflow run reaches: a message all that are still there, and fails with the ledger; a retry the call as its script knows it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../src/records/agent/agent.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import { retriedIn } from '../../src/records/workflow/workflow-terms.ts';
import { messageRun, retryAgent } from '../../src/trees/workflow/steer-runs.ts';

const agent = (id: string, more: object): Agent =>
  ({
    ...{ id, name: id, root_id: 'run', parent_id: 'run', created_at: 1, worker: null },
    ...{ state: { type: 'requesting' }, config: { task: { workflow: { phase: 'one' } } } },
    ...more,
  }) as unknown as Agent;
const run = agent('run', { parent_id: null, config: { workflow: {} } });

function stage(agents: readonly Agent[], send: (id: string, text: string) => Promise<void>) {
  const store = {
    find: async (id: string) => [run, ...agents].filter((one) => one.id === id),
    agents: async () => [run, ...agents],
    agent: async (id: string) => [run, ...agents].find((one) => one.id === id) ?? null,
    mail: async () => [],
    workers: async () => [],
  };
  return { store, runtime: { send } } as unknown as Parameters<typeof messageRun>[0];
}

it('a message reaches those that have not ended, and a ledger that cannot be reached is no ended agent', async () => {
  const dead = new CoppiceError('E_AGENT_DEAD', 'it has ended');
  const agents = [agent('a', {}), agent('b', {})];
  const one = stage(agents, async (id) => {
    if (id === 'a') throw dead;
  });
  assert.deepEqual((await messageRun(one, 'run', { text: 'hi' })).to, [{ id: 'b', label: 'b' }]);
  const none = stage(agents, () => Promise.reject(dead));
  await assert.rejects(messageRun(none, 'run', { text: 'hi' }), { code: 'E_AGENT_NOT_FOUND' });
  for (const lost of [new Error('no ledger'), new CoppiceError('E_CLOSED', 'closed')])
    await assert.rejects(
      messageRun(
        stage(agents, () => Promise.reject(lost)),
        'run',
        { text: 'hi' },
      ),
      lost,
    );
});

it('an agent of a tree that was cut twice is run again by the id that its script knows', async () => {
  for (const [was, known] of [
    [['second', 'first'], 'first'],
    [undefined, 'third'],
  ] as const) {
    const sent: (string | null)[] = [];
    const third = agent('third', was === undefined ? {} : { was });
    await retryAgent(
      stage([third], async (to, text) => void sent.push(to, retriedIn(text))),
      'third',
    );
    assert.deepEqual(sent, ['run', known]);
  }
});
