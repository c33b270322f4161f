/** Proves that a client that was killed finds its agents again: meanwhile a server continues them, and their messages are collected once. */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { makeHome } from '../cli/run-cli.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { until } from '../runtime/stage.ts';
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
