// Proves how `coppice serve` starts and ends: it waits for an unreachable ledger, reports what it cannot do before taking anything over, and obeys signals.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, it } from 'node:test';
import { freePort } from '../../free-port.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

let home: Home;

beforeEach(() => {
  home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ say: 'ok' }] }));
});

for (const command of ['serve', 'worker'])
  it(`coppice ${command} waits for a ledger that is away, and can be stopped meanwhile`, async () => {
    const database = `postgres://nobody:s3cret-password@127.0.0.1:${await freePort()}/none`;
    const { child, ended } = home.start([command, '--database', database, '--log', 'json']);
    let log = '';
    child.stderr?.on('data', (text: string) => {
      log += text;
    });
    await until(() => log.includes('cannot be reached'), 'it says so');
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.ok(!stderr.includes('s3cret-password'));
    for (const line of stderr.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line).text, 'string');
  });

it('a server goes on when the reader of its log has left', async () => {
  const { child, ended } = home.start(['worker', '--log', 'json']);
  await once(child.stderr!, 'data');
  child.stderr?.destroy();
  const begun = await home.run(['run', '--detach', '--model', 'scripted:rules.json', 'go']);
  const waited = await home.run(['wait', begun.stdout.trim(), '--timeout', '30']);
  assert.equal(waited.code, 0, waited.stderr);
  assert.equal(child.exitCode, null);
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
});

it('logs once which tools were set aside, however many trees are told of it', async () => {
  const server = join(import.meta.dirname, '..', '..', 'servers', 'mcp-server.ts');
  const tools = [{ name: 'good', inputSchema: { type: 'object' } }, {}];
  home.configure({
    mcp: { servers: { t: { command: process.execPath, args: [server, JSON.stringify({ tools })] } } },
  });
  const { child, ended } = home.start(['serve', '--log', 'json']);
  for (let run = 1; run <= 2; run += 1) {
    const begun = await home.run(['run', '--detach', '--model', 'scripted:rules.json', 'go']);
    const waited = await home.run(['wait', begun.stdout.trim(), '--timeout', '30']);
    assert.equal(waited.code, 0, waited.stderr);
  }
  child.kill('SIGTERM');
  const { stderr } = await ended;
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ text }) => /set aside/.test(text));
  assert.deepEqual(
    lines.map(({ level, text }) => [level, text]),
    [['warn', 'the MCP server t: a tool is set aside: tool 2 (it has no name)']],
    stderr,
  );
  assert.equal(typeof lines[0].agent, 'string');
});

it('does not start while a secret is missing, or a chat could not be answered', async () => {
  home.configure({ channels: { webhook: { ops: { url: 'https://example.org', secretEnv: 'OPS_SECRET' } } } });
  const secret = await home.run(['serve']);
  assert.equal(secret.code, 2);
  assert.match(secret.stderr, /channels\.webhook\.ops: the environment variable OPS_SECRET is not set/);
  home.configure({ channels: { telegram: { tokenEnv: 'BOT', allow: [1], apiRoot: 'http://127.0.0.1:9' } } });
  const model = await home.run(['serve'], { env: { BOT: '1:x' } });
  assert.equal(model.code, 4, model.stderr);
  const keyless = await home.run(['serve', '--model', 'anthropic/claude-sonnet-4-5'], {
    env: { BOT: '1:x' },
  });
  assert.equal(keyless.code, 4, keyless.stderr);
  home.configure({ channels: { telegram: { profile: 'nobody', allow: [1] } } });
  const profile = await home.run(['serve', '--model', 'scripted:rules.json'], {
    env: { TELEGRAM_BOT_TOKEN: '1:x' },
  });
  assert.equal(profile.code, 2);
  assert.match(profile.stderr, /channels\.telegram: no profile called "nobody"/);
});

it('a second signal exits at once', async () => {
  writeFileSync(
    join(home.work, 'rules.json'),
    JSON.stringify({ rules: [{ delay_ms: 60_000, say: 'late' }] }),
  );
  const model = ['--model', 'scripted:rules.json'];
  await home.run(['cron', 'add', 'slow', '--at', '+1s', '--task', 'take long', ...model]);
  const { child, ended } = home.start(['serve', '--log', 'text', '--drain', '60']);
  let log = '';
  child.stderr?.on('data', (text: string) => {
    log += text;
  });
  await until(() => log.includes('fired slow'), 'it is fired');
  await until(async () => /running/.test((await home.run(['subagent', 'list'])).stdout), 'it is at work');
  child.kill('SIGTERM');
  await until(() => log.includes('stopping'), 'it drains');
  child.kill('SIGTERM');
  const { code } = await ended;
  assert.equal(code, 143);
  assert.match((await home.run(['subagent', 'list'])).stdout, /slow +cron +◐ running/);
});
