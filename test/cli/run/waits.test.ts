// Proves, by the program as a process and a real server, that a run without a terminal says at once what it waits for: the provider, the network, a free slot, a person; and that `tree` and `ps` of another process say the same.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { Answer } from '../../servers/brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

const later = (seconds: number): Answer => ({
  fault: {
    status: 429,
    message: 'too many',
    headers: { 'retry-after': `${seconds}` },
  },
});

/** A home whose model is a server that answers with `answer`, and a run in it. */
async function runAgainst(
  answer: (index: number) => Answer | Promise<Answer>,
  terms: { maxConcurrent?: number } = {},
) {
  const server = await startOpenAiChatServer({ answer: ({ index }) => answer(index) });
  after(() => server.close());
  const home = makeHome();
  home.configure({
    providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1`, ...terms } },
  });
  const { child, ended } = home.start(['run', '--model', 'local/m', 'go']);
  let stderr = '';
  child.stderr?.on('data', (text: string) => {
    stderr += text;
  });
  const told = (text: RegExp) => until(() => text.test(stderr), `${text} on stderr`);
  const tree = async () => (await home.run(['tree'])).stdout;
  return { home, server, child, ended, told, tree };
}

it('a provider that asks to slow down for longer than all the looks at it take', async () => {
  const { home, child, ended, told, tree } = await runAgainst((index) => later(1 + 29 * index));
  await told(/^ {7}the provider asked to slow down: (?:2\d|3[01]) s, try 3 of 6 \(429: too many\)$/m);
  const line = /the provider asked to slow down: \d+ s, try 3 of 6 \(429: too many\)$/m;
  assert.match(await tree(), line);
  const [agent] = JSON.parse((await home.run(['ps', '--json'])).stdout).agents;
  assert.match(agent.held.text, /^the provider asked to slow down: \d+ s, try 3 of 6/);
  // As long as the provider asked, and at most 0.6 s of spread; less by the time until it was recorded.
  const held_ms = Date.parse(agent.held.until) - Date.parse(agent.updated_at);
  assert.ok(held_ms > 20_000 && held_ms <= 30_600, JSON.stringify(agent));
  assert.match((await home.run(['ps'])).stdout, /the provider asked to slow/);
  const time = new Date(agent.held.until).toTimeString().slice(0, 8);
  assert.equal(
    agent.outcome_text.startsWith(`working: the provider asked to slow down until ${time}, try 3 `),
    true,
  );
  const { stdout: shown } = await home.run(['show']);
  assert.match(
    shown,
    new RegExp(`^outcome +working: the provider asked to slow down until ${time}, try`, 'm'),
  );
  assert.match(shown, new RegExp(`^doing +the provider asked to slow down until ${time}, try`, 'm'));
  child.kill('SIGKILL');
  await ended;
});

it('a provider that asks to slow down, and answers then', async () => {
  const { ended, told, tree } = await runAgainst((index) => (index < 1 ? later(1) : { text: 'hi' }));
  await told(/^ {7}the provider asked to slow down: [12] s, try 2 of 6 \(429: too many\)$/m);
  const { code, stdout } = await ended;
  assert.deepEqual([code, stdout], [0, 'hi\n']);
  assert.doesNotMatch(await tree(), /slow down/);
});

it('a page of a gateway: its words, and nothing of it as an agent is left that nobody leads', async () => {
  const page =
    '<html><head><title>503</title></head><body><h1>We are down</h1><p>Back at 18:00.</body></html>';
  const fault = { status: 503, headers: { 'content-type': 'text/html', 'retry-after': '30' }, body: page };
  const { home, child, ended, told, tree } = await runAgainst(() => ({ fault }));
  await told(/^ {7}the provider has trouble: \d+ s, try 2 of 6 \(503: We are down Back at 18:00\.\)$/m);
  child.kill('SIGTERM');
  await ended;
  assert.doesNotMatch(await tree(), /trouble/);
  for (const command of ['ps', 'show', 'tree'])
    assert.doesNotMatch((await home.run([command])).stdout, /trouble/, command);
  const [agent] = JSON.parse((await home.run(['ps', '--json'])).stdout).agents;
  assert.deepEqual([agent.outcome, agent.held, agent.doing], ['unled', null, null]);
});

it('no server, and a process that is gone meanwhile', async () => {
  const { home, server, child, ended, told, tree } = await runAgainst(() => later(1));
  await told(/slow down: [12] s, try 2 of 6/);
  await server.close();
  // A request that was under way when the server closed is told as broken off, all later ones as refused.
  await told(/^ {7}the connection failed: \d+ s, try \d of 6 \(\S/m);
  assert.match(await tree(), /the connection failed: \d+ s, try \d of 6/);
  child.kill('SIGKILL');
  await ended;
  const again = await home.run(['resume', '--timeout', '1']);
  assert.equal(again.code, 124);
  assert.doesNotMatch(await tree(), /slow down/);
});

it('no free slot', async () => {
  const calls = Array.from({ length: 10 }, (_, at) => ({
    name: 'fork',
    input: { name: `kid${at}`, prompt: 'go' },
  }));
  const { promise: open, resolve } = Promise.withResolvers<void>();
  const { ended, told, tree } = await runAgainst(
    (index) => (index === 0 ? { calls } : open.then(() => ({ text: 'done' }))),
    { maxConcurrent: 8 },
  );
  await told(/^ {7}no slot: 8 of 8 requests at work$/m);
  assert.match(await tree(), /^no slot: 8 of 8 requests at work$/m);
  resolve();
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(await tree(), /no slot/);
});

it('people', async () => {
  const home = makeHome();
  const rules = [
    {
      when: { root: true, step: 0 },
      calls: [{ name: 'fork', input: { name: 'k{{index}}', prompt: 'go' }, repeat: 2 }],
    },
    { when: { root: false, step: 0 }, calls: [{ name: 'bash', input: { command: 'echo 1' } }] },
    { say: 'ok' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const flags = ['--database', `sqlite:${join(home.folder, 'a b.db')}`];
  const { child, ended } = home.start(['run', '--ask', '--model', 'scripted:rules.json', ...flags, 'go']);
  let stderr = '';
  child.stderr?.on('data', (text: string) => {
    stderr += text;
  });
  const line = /^ *2 approvals wait \(coppice --database 'sqlite:.*a b\.db' approvals\)$/m;
  await until(() => line.test(stderr), 'two approvals');
  const { stdout: tree } = await home.run(['tree', ...flags]);
  assert.match(tree, line);
  assert.doesNotMatch(tree, /^waiting for you: 2 approvals$/m);
  const listed = await home.run(['approvals', ...flags]);
  assert.equal(listed.code, 0);
  assert.equal(listed.stdout.match(/wants bash/g)?.length, 2);
  const { approvals } = JSON.parse((await home.run(['approvals', '--json', ...flags])).stdout);
  for (const { id } of approvals) await home.run(['approvals', 'deny', id, ...flags]);
  assert.match((await ended).stderr, /^2 calls denied: bash \(by you\)$/m);
});
