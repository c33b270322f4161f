/** Proves what a person without a model key sees: a choice between the complete demo and the instructions for a key or a local model. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { MAIN } from '../../house/program.ts';
import { startAnthropicServer } from '../../servers/anthropic-server.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { openPty, type Pty } from '../terminal/pty.ts';
import { KEY } from './ui-stage.ts';

function begin(
  test: TestContext,
  args: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
  folder = temporaryFolder(),
): Pty & { readonly folder: string } {
  writeFileSync(join(folder, 'some.md'), 'TODO: words\n');
  const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, ...more };
  const pty = openPty(
    process.execPath,
    [MAIN, '--database', `sqlite:${join(folder, 'ledger.db')}`, ...args],
    {
      columns: 100,
      rows: 30,
      cwd: folder,
      env,
    },
  );
  test.after(() => pty.end());
  return Object.assign(pty, { folder });
}

async function asked(test: TestContext, more: NodeJS.ProcessEnv = {}): Promise<ReturnType<typeof begin>> {
  const pty = begin(test, [], more);
  await pty.until('No model key found. Nothing was sent anywhere.');
  for (const choice of ['1  Watch a 20-second demo', '2  Add a key', '3  Use a local model'])
    assert.ok(pty.screen().some((line) => line.includes(choice)));
  return pty;
}

/** Presses keys one by one, as a person does. */
async function press(pty: Pty, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    pty.send(key);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
}

async function talks(pty: Pty): Promise<void> {
  // An empty line of input: what was said in a conversation before may still be on the screen.
  await pty.until(() => pty.screen().some((line) => line.trimEnd() === '>'), 'the conversation begins');
  await press(pty, 'say hello', KEY.enter);
  await pty.until('hello to you');
}

const mode = (file: string) => statSync(file).mode & 0o777;

it('choice 2 asks for a key, tries it, keeps it for the user only, shows it nowhere, and begins', async (test) => {
  const server = await startAnthropicServer({
    answer: () => ({ text: 'hello to you' }),
    admits: ({ 'x-api-key': key }) => key === 'sk-good-0123456789',
  });
  test.after(() => server.close());
  const pty = await asked(test, { ANTHROPIC_BASE_URL: server.url });
  await press(pty, '2');
  await pty.until('Whose key?');
  await press(pty, '1');
  await pty.until('Paste the key of Anthropic');
  await press(pty, 'sk-bad-0123456789', KEY.enter);
  await pty.until('Paste it once more');
  await press(pty, '\x1b[200~export ANTHROPIC_API_KEY="sk-good-0123456789"\x1b[201~');
  await pty.until('45 characters, hidden');
  await press(pty, KEY.enter);
  await pty.until('anthropic/claude-sonnet-4-5 is ready');
  await talks(pty);
  assert.doesNotMatch(pty.written(), /sk-|0123456789/);
  const folder = join(pty.folder, 'coppice');
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8')), {
    ANTHROPIC_API_KEY: 'sk-good-0123456789',
  });
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')), {
    model: 'anthropic/claude-sonnet-4-5',
  });
  assert.deepEqual([mode(join(folder, 'keys.json')), mode(join(folder, 'config.json'))], [0o600, 0o600]);
  const later = begin(test, [], { ANTHROPIC_BASE_URL: server.url }, pty.folder);
  await talks(later);
});

it('choice 3 finds a server that runs, or asks one at another address for its models, with a key if it wants one', async (test) => {
  const answer = () => ({ text: 'hello to you' });
  const [ollama, other] = await Promise.all([
    startOpenAiChatServer({ answer, models: ['qwen3:8b'] }),
    startOpenAiChatServer({
      answer,
      models: ['glm-5', 'glm-6'],
      admits: ({ authorization }) => authorization === 'Bearer local-key',
    }),
  ]);
  test.after(() => Promise.all([ollama.close(), other.close()]));
  const pty = await asked(test, { OLLAMA_HOST: ollama.url });
  await press(pty, KEY.down, KEY.down, KEY.enter);
  await pty.until(
    () => pty.screen().some((line) => /1 {2}qwen3:8b .*Ollama/.test(line)),
    'the model of Ollama',
  );
  await press(pty, KEY.enter);
  await pty.until('ollama/qwen3:8b is ready');
  await talks(pty);
  await press(pty, '/setup', KEY.enter);
  await pty.until('Watch a 20-second demo');
  await press(pty, '3');
  await pty.until('Another address');
  await press(pty, /(\d) {2}Another address/.exec(pty.screen().join('\n'))?.[1] ?? '');
  await pty.until('Address of an OpenAI-compatible server');
  await press(pty, '\x15', 'http://127.0.0.1:1', KEY.enter);
  await pty.until('it cannot be reached (ECONNREFUSED)');
  await press(pty, '\x15', other.url, KEY.enter);
  await pty.until('Paste the key of 127.0.0.1');
  await press(pty, 'local-key', KEY.enter);
  await pty.until('2  glm-6');
  await press(pty, '2');
  await pty.until('local/glm-6 is ready');
  await talks(pty);
  const folder = join(pty.folder, 'coppice');
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')), {
    model: 'local/glm-6',
    providers: {
      local: { type: 'openai-compatible', baseURL: `${other.url}/v1`, apiKeyEnv: 'LOCAL_API_KEY' },
    },
  });
});

it('/setup begins with the new model, whatever was named before, and keeps the server of an earlier one', async (test) => {
  const [one, two] = await Promise.all(
    ['one', 'two'].map((name) =>
      startOpenAiChatServer({ answer: () => ({ text: `hello to you from ${name}` }), models: [name] }),
    ),
  );
  assert.ok(one !== undefined && two !== undefined);
  test.after(() => Promise.all([one.close(), two.close()]));
  const folder = temporaryFolder();
  const model = `scripted:${join(folder, 'rules.json')}`;
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ rules: [{ say: 'the old model' }] }));
  mkdirSync(join(folder, 'coppice'));
  const file = join(folder, 'coppice', 'config.json');
  writeFileSync(file, JSON.stringify({ agents: { defaults: { model, thinking: 'off' } } }));
  const pty = begin(test, ['--model', model], {}, folder);
  await pty.until(() => pty.screen().some((line) => line.startsWith('>')), 'the conversation begins');
  for (const [name, url, provider] of [
    ['one', one.url, 'local'],
    ['two', two.url, 'local2'],
  ] as const) {
    await press(pty, '/setup', KEY.enter);
    await pty.until('Watch a 20-second demo');
    await press(pty, '3');
    // The answers of the round before are still on the screen: what is waited for is the question that is open.
    const another = () => /(\d) {2}Another address/.exec(pty.screen().join('\n'))?.[1];
    await pty.until(() => another() !== undefined, 'the choice of an address');
    await press(pty, another() ?? '');
    const isAsked = (text: string) => () => pty.screen().some((line) => line.trimEnd() === `> ${text}`);
    await pty.until(isAsked('http://127.0.0.1:'), 'the field of the address');
    await press(pty, '\x15', url);
    await pty.until(isAsked(url), 'the address is written');
    await press(pty, KEY.enter);
    await pty.until(`1  ${name}`);
    await press(pty, '1');
    await pty.until(`coppice  ${provider}/${name}`);
    await talks(pty);
    await pty.until(`hello to you from ${name}`);
  }
  const server = (baseURL: string) => ({ type: 'openai-compatible', baseURL: `${baseURL}/v1` });
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    model: 'local2/two',
    agents: { defaults: { model: 'local2/two', thinking: 'off' } },
    providers: { local: server(one.url), local2: server(two.url) },
  });
});

it('the demo is always marked as such, needs no answer, and reports', async (test) => {
  const pty = await asked(test);
  pty.send('1');
  await pty.until('SCRIPTED DEMO');
  await pty.until('wait 3 agents');
  await pty.until('SCRIPTED DEMO');
  pty.send(KEY.alt(1));
  await pty.until('[1 file-reader]');
  await pty.until('SCRIPTED DEMO');
  pty.send(KEY.alt(0));
  await pty.until('[0 main]');
  await pty.until('Report on this folder, by three agents');
  assert.ok(!pty.screen().some((line) => line.includes('wants:')), 'nothing is asked in a demo');
  await press(pty, 'And now?', KEY.enter);
  await pty.until('This was the demo');
  await pty.until(() => !pty.screen().some((line) => line.includes('Esc interrupts')), 'it rests');
  await press(pty, '/setup', KEY.enter);
  await pty.until('2  Add a key');
  assert.ok(!pty.history().join(' ').includes('no rule of demo'));
});

it('a terminal that can only print lines is asked and answers in lines, and is told how to set a key', async (test) => {
  const server = await startOpenAiChatServer({ answer: () => ({ text: 'hello to you' }), models: ['qwen3'] });
  test.after(() => server.close());
  const dumb = { TERM: 'dumb', OLLAMA_HOST: server.url };
  const pty = begin(test, [], dumb);
  await pty.until('1 to 3, then Enter');
  pty.send('no idea\r');
  pty.send('2\r');
  await pty.until('export ANTHROPIC_API_KEY=');
  assert.equal((await pty.ended).exitCode, 4);
  const local = begin(test, [], dumb);
  await local.until('1 to 3, then Enter');
  local.send('3\r');
  await local.until('1  qwen3');
  local.send('1\r');
  await local.until('ollama/qwen3 is ready');
  await local.until('/help');
  local.send('say hello\r');
  await local.until('hello to you');
  const controls = [...pty.written(), ...local.written()];
  assert.deepEqual(
    controls.filter((character) => character < ' ' && !'\r\n\t'.includes(character)),
    [],
  );
});

it('reports an invalid limit before anything is typed', async (test) => {
  const pty = begin(test, ['--model', 'scripted:none.json', '--limit', 'agents=5']);
  assert.equal((await pty.ended).exitCode, 2);
  assert.match(pty.history().join('\n'), /no limit called "agents"/);
});
