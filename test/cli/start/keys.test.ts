// Proves how commands use the key file: variables that are set take precedence, and a file that others may read is refused.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { listModels } from '../../../src/cli/first-run/local-servers.ts';
import { writeSetup } from '../../../src/cli/first-run/prepare-model.ts';
import { startAnthropicServer } from '../../servers/anthropic-server.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { makeHome } from '../run-cli.ts';

it('a run uses a key of the file, unless the variable is set', async (test) => {
  const home = makeHome();
  const server = await startAnthropicServer({
    answer: ({ headers }) => ({ text: `by ${headers['x-api-key']}` }),
  });
  test.after(() => server.close());
  const file = join(home.folder, 'config', 'coppice', 'keys.json');
  writeFileSync(file, '{"ANTHROPIC_API_KEY":"of-file"}', { mode: 0o600 });
  const env = { ANTHROPIC_BASE_URL: server.url };
  assert.equal((await home.run(['run', 'x'], { env })).stdout, 'by of-file\n');
  assert.equal(
    (await home.run(['run', 'x'], { env: { ...env, ANTHROPIC_API_KEY: '' } })).stdout,
    'by of-file\n',
  );
  assert.equal(
    (await home.run(['run', 'x'], { env: { ...env, ANTHROPIC_API_KEY: 'of-env' } })).stdout,
    'by of-env\n',
  );

  chmodSync(file, 0o644);
  const open = await home.run(['ps']);
  assert.equal(open.code, 2);
  assert.match(
    open.stderr,
    /contains keys and is accessible to other users \(E_CONFIG\)\n {2}Run: chmod 600 /,
  );
  for (const content of [
    '{"ANTHROPIC_API_KEY": "of-file"',
    '{"NODE_OPTIONS":"of-file"}',
    '{"A_KEY":7}',
    '7',
  ]) {
    writeFileSync(file, content);
    chmodSync(file, 0o600);
    const { code, stderr } = await home.run(['ps']);
    assert.equal(code, 2, content);
    assert.match(stderr, /is not a valid key file/);
    assert.doesNotMatch(stderr, /of-file/, 'a key is in no message');
  }
});

it('what is set up joins the configuration and the keys that are there', () => {
  const home = makeHome();
  const [folder, dotfiles] = [join(home.folder, 'config', 'coppice'), join(home.folder, 'dotfiles')];
  mkdirSync(dotfiles);
  writeFileSync(
    join(dotfiles, 'config.json'),
    JSON.stringify({
      model: 'a/b',
      env_allow: ['X'],
      providers: { a: { type: 'openai' } },
      agents: { defaults: { model: 'a/b', thinking: 'low' }, limits: { depth: 2 } },
    }),
    { mode: 0o640 },
  );
  symlinkSync(join(dotfiles, 'config.json'), join(folder, 'config.json'));
  writeFileSync(join(folder, 'keys.json'), '{"OTHER_KEY":"other"}', { mode: 0o600 });
  const found = {
    model: 'local/m',
    keys: { LOCAL_API_KEY: 'k' },
    providers: { local: { type: 'openai-compatible', baseURL: 'http://x/v1' } },
  } as const;
  const files = writeSetup(found, undefined, home.env);
  assert.deepEqual(files, [join(folder, 'keys.json'), join(folder, 'config.json')]);
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  assert.deepEqual(read(join(dotfiles, 'config.json')), {
    model: 'local/m',
    env_allow: ['X'],
    agents: { defaults: { model: 'local/m', thinking: 'low' }, limits: { depth: 2 } },
    providers: { a: { type: 'openai' }, local: found.providers.local },
  });
  assert.deepEqual(read(join(folder, 'keys.json')), { OTHER_KEY: 'other', LOCAL_API_KEY: 'k' });
  assert.deepEqual(
    [join(folder, 'config.json'), join(folder, 'keys.json')].map((file) => statSync(file).mode & 0o777),
    [0o640, 0o600],
  );
});

it('a server of another kind on a usual port is no server of models', async (test) => {
  const [models, none, locked] = await Promise.all([
    startOpenAiChatServer({ answer: () => ({}), models: ['a', 'b\u001b[31m', ''] }),
    startOpenAiChatServer({ answer: () => ({}) }),
    startOpenAiChatServer({ answer: () => ({}), models: ['a'], admits: () => false }),
  ]);
  test.after(() => Promise.all([models.close(), none.close(), locked.close()]));
  assert.deepEqual(await listModels(`${models.url}/v1/`), { ok: true, models: ['a'] });
  assert.deepEqual(await listModels(`${none.url}/v1`), {
    ok: false,
    wants_key: false,
    error: 'it lists no models (404)',
  });
  assert.deepEqual(await listModels(`${locked.url}/v1`), {
    ok: false,
    wants_key: true,
    error: 'it wants a key',
  });
  assert.deepEqual(await listModels(`${locked.url}/v1`, { key: 'k' }), {
    ok: false,
    wants_key: true,
    error: 'it refuses the key',
  });
  assert.deepEqual(await listModels('http://127.0.0.1:1/v1'), {
    ok: false,
    wants_key: false,
    error: 'it cannot be reached (ECONNREFUSED)',
  });
});
