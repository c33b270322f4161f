// Proves, by the program as a process, that a run outlives a server that is away for a while, that one that is not to be tried soon ends it with 75 and loses nothing,
// and that agents whose provider has never answered fail.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

/** A run whose server goes away between its first answer and the second request. */
async function runThatLoses(probeSeconds?: { readonly first: number; readonly most: number }) {
  const command = 'until [ -e away ]; do sleep 0.1; done';
  const server = await startOpenAiChatServer({
    answer: ({ index }) =>
      index === 0 ? { calls: [{ name: 'bash', input: { command } }] } : { text: 'back again' },
  });
  after(() => server.close());
  const home = makeHome();
  const local = { type: 'openai-compatible', baseURL: `${server.url}/v1`, probeSeconds };
  home.configure({ providers: { local } });
  const { child, ended } = home.start(['run', '--model', 'local/m', '--allow', 'bash', 'go']);
  let stderr = '';
  child.stderr?.on('data', (text: string) => {
    stderr += text;
  });
  await until(() => server.exchanges.length === 1, 'the first request');
  await until(async () => /bash/.test((await home.run(['tree'])).stdout), 'its call');
  await server.close();
  writeFileSync(join(home.work, 'away'), '');
  await until(
    () => /waiting for local to answer \(next try at/.test(stderr),
    'the run says what it waits for',
  );
  return { home, server, ended };
}

it('a run outlives a server that is away for a while', { timeout: 120_000 }, async () => {
  const { server, ended } = await runThatLoses();
  await server.reopen();
  const { code, stdout, stderr } = await ended;
  assert.deepEqual([code, stdout], [0, 'back again\n'], stderr);
  assert.equal(server.exchanges.length, 2);
});

it('a run ends with 75 where the next try is not soon, and resume goes on', {
  timeout: 120_000,
}, async () => {
  const { home, server, ended } = await runThatLoses({ first: 3_600, most: 3_600 });
  const { code, stderr } = await ended;
  assert.equal(code, 75, stderr);
  assert.match(stderr, /nothing is lost, continue with: coppice resume/);
  await server.reopen();
  const again = await home.run(['resume']);
  assert.deepEqual([again.code, again.stdout], [0, 'back again\n'], again.stderr);
});

it('the agents of a workflow fail where nobody has ever answered', { timeout: 120_000 }, async () => {
  const server = await startOpenAiChatServer({ answer: () => ({ text: 'never' }) });
  await server.close();
  const home = makeHome();
  home.configure({
    model: 'local/m',
    providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } },
  });
  const script = `export const meta = { name: 'two', description: 'd' };
    return parallel([1, 2].map((n) => () => agent('do ' + n)));`;
  writeFileSync(join(home.work, 'two.js'), script);
  const { code, stderr } = await home.run(['workflow', 'run', 'two.js', '--yes']);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /2 of 2 failed: network: cannot reach .* \(gave up after 6 tries\)/);
});
