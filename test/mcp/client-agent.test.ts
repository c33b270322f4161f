/** Proves what becomes of a client's call that nobody carries out, and that results are found among those of many calls at once. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, it } from 'node:test';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import { Calls } from '../../src/mcp/carry-out.ts';
import { ClientAgent } from '../../src/mcp/client-agent.ts';
import type { McpOptions } from '../../src/mcp/mcp-options.ts';
import { closeOpened } from '../close-opened.ts';
import { setStage } from '../runtime/stage.ts';
import { CONFIG, newRoot } from '../store/ledger-fixture.ts';

after(closeOpened);

const TERMS = {
  has_tasks: true,
  elicits: false,
  signal: new AbortController().signal,
  isCancelled: () => false,
  onLook: () => undefined,
};

async function place() {
  const { store, runtime } = await setStage(() => 'done');
  const options: McpOptions = {
    store,
    runtime,
    terms: DEFAULT_TERMS,
    version: '0',
    cwd: '/',
    lasting: true,
    env: {},
    wait_ms: 100,
    compose: async () => ({
      config: { ...CONFIG, model: 'play/actor', cwd: '/', toolsets: ['process'] },
      limits: {},
      placement: [],
    }),
    onEntered: () => undefined,
  };
  return { store, options, client: new ClientAgent('tester', options) };
}

it('a call that nobody carries out ends, and is not lost', { timeout: 60_000 }, async () => {
  const { store, options, client } = await place();
  await store.heartbeat({ id: 'silent', host: hostname(), pid: process.pid, role: 'serve' });
  const root = await newRoot(
    store,
    {},
    { session_key: client.session_key, worker: 'silent', state: { type: 'idle' } },
  );
  const cancelling = new AbortController();
  const cancelled = client.call('fork', { name: 'one', prompt: 'x' }, { signal: cancelling.signal });
  const calls = new Calls(client, options);
  const late = calls.carryOut('spawn_agents', { tasks: [{ task: 'x' }] }, { ...TERMS, has_tasks: false });
  const task = calls.carryOut('spawn_agents', { tasks: [{ task: 'x' }] }, TERMS);
  setTimeout(() => cancelling.abort(), 200);
  assert.equal((await cancelled).result, null);
  const outcome = await late;
  assert.ok(outcome.type === 'answer' && outcome.answer.isError === true);
  assert.match(outcome.answer.content[0]?.text ?? '', /"NOT_AVAILABLE".*recorded.*do not repeat it/);
  assert.equal((await task).type, 'task');
  assert.equal((await store.mail(root.id)).length, 3);
});

it('a name that several agents of the client have is told with all of them, whatever the call', async () => {
  const { options, client } = await place();
  const calls = new Calls(client, options);
  for (const prompt of ['x', 'y']) await calls.carryOut('start_tree', { prompt, name: 'twin' }, TERMS);
  for (const [tool, input] of [
    ['send', { to: 'twin', message: 'x' }],
    ['kill', { agent_id: 'twin' }],
    ['wait', { from_agents: ['twin'] }],
  ] as const)
    await assert.rejects(calls.carryOut(tool, input, TERMS), {
      code: 'E_AGENT_AMBIGUOUS',
      hint: /^twin \(.*\)\ntwin \(.*\)\n/,
    });
});

it('an agent that the client kills has ended in this process when the call is answered', async () => {
  const { options, client } = await place();
  const calls = new Calls(client, options);
  const started = await calls.carryOut('start_tree', { prompt: 'x', name: 'lone' }, TERMS);
  const id = started.type === 'task' ? started.task_id.replace('tree.', '') : '';
  await options.runtime.settled(id);
  await calls.carryOut('kill', { agent_id: id }, TERMS);
  const [root] = await options.runtime.agents(id);
  assert.ok(root?.state.type === 'killed');
  assert.equal(root.state.by, 'tester');
});

it('the results of many calls at once are found', async () => {
  const { client } = await place();
  const calls = await Promise.all(
    Array.from({ length: 150 }, () => client.call('kill', { agent_id: 'nobody' }, { ms: 60_000 })),
  );
  for (const { result, ...placed } of calls) assert.deepEqual(await client.resultOf(placed), result);
});
