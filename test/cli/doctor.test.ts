// Proves that `coppice doctor` really tests what it reports: whatever would make run, serve or a sub-agent fail is named and reflected in the exit code; no
// key is shown.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { after, afterEach, before, it } from 'node:test';
import { makeHome } from './run-cli.ts';

const home = makeHome();
const KEY = 'sk-the-right-key';
let server: Server;
let env: NodeJS.ProcessEnv;
const seen: string[] = [];

before(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const { authorization, 'x-api-key': anthropic } = request.headers;
    const status =
      request.url === '/odd/models'
        ? 404
        : authorization === `Bearer ${KEY}` || anthropic === KEY
          ? 200
          : 401;
    const type = request.url === '/page/models' ? 'text/html' : 'application/json';
    response.writeHead(type === 'text/html' ? 200 : status, { 'content-type': type }).end('{"data":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  env = { OPENAI_BASE_URL: url, ANTHROPIC_BASE_URL: url, ODD: `${url}/odd` };
});
after(() => {
  server.close();
});
afterEach(() => home.configure({}));

/** Runs `coppice doctor`; returns its exit code and its last line, and checks that no key is shown. */
async function doctor(
  more: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; last: string; stdout: string }> {
  const { code, stdout } = await home.run(['doctor'], { env: { ...env, ...more } });
  assert.ok(!stdout.includes(KEY) && !stdout.includes('sk-wrong'), 'a key is shown');
  return { code, stdout, last: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

it('no model and no key: reports as missing what makes run exit with 4', async () => {
  const { code, last } = await doctor();
  assert.deepEqual([code, last], [1, 'Needed, but missing: model.']);
  assert.equal((await home.run(['run', 'hello'], { env })).code, 4);
});

it('a server that cannot be reached as its address says: what that means', async () => {
  const { stdout } = await doctor({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: env.OPENAI_BASE_URL?.replace('http:', 'https:'),
  });
  assert.match(stdout, /^missing +model .* cannot be reached \(EPROTO\); .*is its address http:\/\/…\?$/m);
});

it('a key that its server takes, refuses, or cannot be asked about', async () => {
  const good = await doctor({ OPENAI_API_KEY: KEY });
  assert.deepEqual([good.code, good.last], [0, 'Nothing needed is missing.']);
  assert.match(good.stdout, /^ok +model +openai\/gpt-5 \(usual\): 127\.0\.0\.1:\d+ answers$/m);
  const bad = await doctor({ OPENAI_API_KEY: 'sk-wrong' });
  assert.deepEqual([bad.code, bad.last], [1, 'Needed, but missing: model.']);
  assert.match(bad.stdout, /openai\/gpt-5 \(usual\): 127\.0\.0\.1:\d+ refuses the key/);
  const away = await doctor({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'http://127.0.0.1:1' });
  assert.deepEqual([away.code, away.last], [1, 'Needed, but missing: model.']);
  assert.match(away.stdout, /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/);
  home.configure({ model: 'odd/x', providers: { odd: { type: 'openai-compatible', baseURL: env.ODD } } });
  const odd = await doctor();
  assert.equal(odd.code, 0);
  assert.match(odd.stdout, /lists no models \(404\): the key was not tried/);
  home.configure({
    model: 'odd/x',
    providers: { odd: { type: 'openai-compatible', baseURL: `${env.ODD}/../page` } },
  });
  assert.match(
    (await doctor()).stdout,
    /answers with a web page instead of its models, .*providers\.odd\.baseURL/,
  );
  // No request was made that costs anything.
  assert.deepEqual([...new Set(seen)].sort(), ['GET /models', 'GET /odd/models', 'GET /page/models']);
});

it('names all that is missing: models of profiles and sub-agents, programs, secrets of chats; serve and run agree', async () => {
  mkdirSync(join(home.work, 'program'));
  home.configure({
    model: 'openai/gpt-5',
    agents: {
      defaults: { subagents: { model: 'nosuch/model' } },
      writer: { description: 'writes', model: 'anthropic/claude-sonnet-4-5' },
    },
    acp: { absent: { command: 'no-such-program' }, folder: { command: join(home.work, 'program') } },
    channels: { webhook: { hook: { url: 'http://127.0.0.1:1/', secretEnv: 'HOOK_SECRET' } } },
  });
  const { code, last, stdout } = await doctor({ OPENAI_API_KEY: KEY });
  assert.deepEqual([code, last], [1, 'Needed, but missing: acp:absent, acp:folder, model, channel.']);
  assert.match(stdout, /^ok +model +openai\/gpt-5 \(usual\)/m);
  assert.match(stdout, /^missing +model +nosuch\/model \(sub-agents\): no provider called "nosuch"$/m);
  assert.match(
    stdout,
    /^missing +model +anthropic\/claude-sonnet-4-5 \(profile writer\): .*ANTHROPIC_API_KEY is not set$/m,
  );
  assert.match(stdout, /^missing +acp:absent +no-such-program was not found/m);
  assert.match(stdout, /^missing +channel +HOOK_SECRET is not set$/m);
  const with_key = { env: { ...env, OPENAI_API_KEY: KEY } };
  assert.equal((await home.run(['run', 'hello', '--profile', 'writer'], with_key)).code, 4);
  assert.equal((await home.run(['serve'], with_key)).code, 2);
  const json = await home.run(['doctor', '--json'], with_key);
  const { healthy, checks } = JSON.parse(json.stdout) as {
    healthy: boolean;
    checks: { name: string; needed: boolean; ok: boolean }[];
  };
  assert.deepEqual(
    checks.filter(({ name }) => name !== name.trim()),
    [],
  );
  assert.deepEqual([json.code, healthy, checks.filter((one) => one.needed && !one.ok).length], [1, false, 5]);
});

it('a command in its text finds the same ledger', async () => {
  const flags = ['--database', `sqlite:${join(home.folder, 'other.db')}`];
  const hint = `; coppice ${flags.join(' ')} demo needs neither`;
  assert.ok((await home.run(['doctor', ...flags])).stdout.includes(hint));
  const { checks } = JSON.parse((await home.run(['doctor', '--json', ...flags])).stdout);
  assert.ok(checks.some(({ text }: { text: string }) => text.endsWith(hint)));
});

it('a file that is no ledger, a folder that does not exist', async () => {
  const { code, stdout } = await home.run([
    'doctor',
    '--database',
    '/dev/null',
    '--cwd',
    '/nowhere',
    '--model',
    'scripted:none.json',
  ]);
  assert.equal(code, 1);
  assert.match(stdout, /^missing +database +\/dev\/null is a device/m);
  assert.match(stdout, /^missing +folder +.*\/nowhere/m);
  assert.match(stdout, /^missing +model +scripted:none\.json/m);
});
