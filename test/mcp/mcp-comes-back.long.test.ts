/**
 * Proves that a client that was killed finds its agents again: meanwhile a server continues them, and their messages are collected once; where no server does,
 * or no longer, the client's own process continues them.
 */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { makeHome } from '../cli/run-cli.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { startClient, writeRules } from './mcp-client.ts';

after(closeOpened);

const RULES = [
  {
    when: { user: 'write', step: 0 },
    delay_ms: 800,
    calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'found it' } }],
  },
  { delay_ms: 800, say: 'done' },
];

it('a client that was killed with its server', async () => {
  const home = makeHome();
  const model = writeRules(home, RULES);
  const first = await startClient(home, model);
  for (const [name, prompt] of [
    ['writer', 'write to me'],
    ['worker', 'work'],
  ])
    await first.tool('fork', { name, prompt });
  first.child.kill('SIGKILL');
  const serve = home.start(['serve', '--no-listen']);
  closeLater(async () => {
    serve.child.kill('SIGKILL');
    await serve.ended;
  });
  const all = async () =>
    JSON.parse((await home.run(['ps', '--all', '--json'])).stdout).agents as {
      name: string;
      status: string;
      last_reply: string | null;
    }[];
  await until(
    async () => (await all()).filter(({ last_reply }) => last_reply === 'done').length === 2,
    'the server has finished both',
  );
  const second = await startClient(home, model);
  const { value } = await second.tool('wait', { timeout: 20 });
  assert.deepEqual(
    value.results
      .map(({ name, status, message, last_reply }) => [name, status, message ?? last_reply])
      .sort(),
    [
      ['worker', 'idle', 'done'],
      ['writer', 'received', 'found it'],
    ],
  );
  // The message was collected once and is not repeated; the client has the same agent as before.
  const again = await second.tool('wait', { timeout: 0 });
  assert.deepEqual(again.value.results, []);
  assert.equal((await all()).filter(({ name }) => name === 'tester').length, 1);
  // Another program, and a second instance of the same program while the first is connected, each get their own agent.
  const other = await startClient(home, model, { name: 'other' });
  assert.deepEqual((await other.tool('list_agents')).value.agents, []);
  const twin = await startClient(home, model);
  await twin.tool('fork', { name: 'third', prompt: 'work' });
  const seen = (await twin.tool('list_agents')).value.agents.map(({ name }) => name).sort();
  assert.ok(seen.includes('third'), seen.join());
});

it('a client whose server has stopped carries out its calls itself', async () => {
  const home = makeHome();
  const model = writeRules(home, RULES);
  const first = await startClient(home, model);
  await first.tool('fork', { name: 'worker', prompt: 'work' });
  first.child.kill('SIGKILL');
  const serve = home.start(['serve', '--no-listen']);
  closeLater(async () => {
    serve.child.kill('SIGKILL');
    await serve.ended;
  });
  const list = async () => JSON.parse((await home.run(['ps', '--all', '--json'])).stdout).agents;
  await until(
    async () => (await list()).some(({ last_reply }: { last_reply: string | null }) => last_reply === 'done'),
    'the server has finished the work',
  );
  const second = await startClient(home, model);
  await second.tool('fork', { name: 'shared', prompt: 'work' });
  serve.child.kill('SIGKILL');
  await serve.ended;
  assert.equal((await second.tool('fork', { name: 'late', prompt: 'work' })).is_error, false);
  const { value } = await second.tool('wait', { timeout: 20, from_agents: ['worker', 'shared', 'late'] });
  assert.deepEqual(
    value.results.map(({ name, status, last_reply }) => [name, status, last_reply]),
    ['worker', 'shared', 'late'].map((name) => [name, 'idle', 'done']),
  );
  assert.equal((await list()).filter(({ name }: { name: string }) => name === 'tester').length, 1);
});

it('a tree that a killed client had started goes on when it is waited for', async () => {
  const home = makeHome();
  const model = writeRules(home, RULES);
  const first = await startClient(home, model);
  void first.tool('start_tree', { prompt: 'work', name: 'big' }).catch(() => undefined);
  await until(
    async () => (await first.tool('list_agents')).value.agents.some(({ name }) => name === 'big'),
    'the tree is there',
  );
  first.child.kill('SIGKILL');
  const second = await startClient(home, model);
  const { value } = await second.tool('wait', { timeout: 20, from_agents: ['big'] });
  assert.deepEqual(
    value.results.map(({ status, last_reply }) => [status, last_reply]),
    [['idle', 'done']],
  );
});
