// Proves that model names, configured entries and environment variables select the right server and key, or give a clear error.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Gate } from '../../src/models/gate/gate.ts';
import { providerConfig } from '../../src/models/provider/provider-config.ts';
import { memoryQuirks, mergeQuirks, quirksTold } from '../../src/models/provider/quirk-book.ts';
import { knownProviders, type OpenModelOptions, openModel } from '../../src/models/providers.ts';
import { startAnthropicServer } from '../servers/anthropic-server.ts';
import { startGoogleServer } from '../servers/google-server.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { startOpenAiResponsesServer } from '../servers/openai-responses-server.ts';
import { ask } from './protocols.ts';

const answer = () => ({ text: 'ok' });
const gates = (name: string) => new Map([[name, new Gate({ attempts: 1, patience_ms: 0 })]]);
const portOf = (url: string) => new URL(url).port;

async function failing(name: string, options: Partial<OpenModelOptions> = {}) {
  const failed = await openModel(name, { providers: {}, env: {}, ...options }).then(
    () => null,
    (error: { code: string; message: string; hint: string }) => error,
  );
  assert.ok(failed !== null, `${name} must not open`);
  return failed;
}

it('built-in providers are found at the address in their variable, with the key in theirs', async () => {
  const servers = {
    anthropic: await startAnthropicServer({ answer }),
    openai: await startOpenAiResponsesServer({ answer }),
    google: await startGoogleServer({ answer }),
    ollama: await startOpenAiChatServer({ answer }),
  };
  const env = {
    ANTHROPIC_API_KEY: 'key-a',
    ANTHROPIC_BASE_URL: servers.anthropic.url,
    OPENAI_API_KEY: 'key-o',
    OPENAI_BASE_URL: `${servers.openai.url}/v1`,
    GEMINI_API_KEY: 'key-g',
    GOOGLE_GEMINI_BASE_URL: servers.google.url,
    OLLAMA_HOST: `:${portOf(servers.ollama.url)}`,
  };
  const keys = [
    ['anthropic', 'x-api-key', 'key-a'],
    ['openai', 'authorization', 'Bearer key-o'],
    ['google', 'x-goog-api-key', 'key-g'],
    ['ollama', 'authorization', undefined],
  ] as const;
  for (const [provider, header, value] of keys) {
    const name = `${provider}/some-model`;
    const model = await openModel(name, { providers: {}, env, gates: gates(name) });
    const outcome = await model.stream(ask(), () => undefined);
    assert.equal(outcome.type, 'answer', JSON.stringify(outcome));
    assert.equal(servers[provider].exchanges[0]?.headers[header], value);
    await servers[provider].close();
  }
});

it('an address is understood as people have it at hand: with a slash, with a query, of an endpoint', async () => {
  const starts = {
    anthropic: [startAnthropicServer, '/v1', '/messages'],
    google: [startGoogleServer, '/v1beta', '/models'],
    openai: [startOpenAiResponsesServer, '/v1', '/responses'],
    'openai-compatible': [startOpenAiChatServer, '/v1', '/chat/completions'],
  } as const;
  for (const [type, [start, base, endpoint]] of Object.entries(starts)) {
    const server = await start({ answer });
    const asked = async (written: string) => {
      const baseURL = server.url + base + written;
      const providers = { own: providerConfig.parse({ type, baseURL, apiKeyEnv: 'OWN_KEY' }) };
      const model = await openModel('own/m', {
        ...{ providers, env: { OWN_KEY: 'k' }, gates: gates('own/m') },
      });
      const outcome = await model.stream(ask(), () => undefined);
      assert.equal(outcome.type, 'answer', `${baseURL}: ${JSON.stringify(outcome)}`);
      return server.exchanges.at(-1)?.path ?? '';
    };
    const plain = await asked('');
    for (const written of ['/', '//', endpoint, `${endpoint}/`, '#part'])
      assert.equal(await asked(written), plain, written);
    const queried = plain + (plain.includes('?') ? '&' : '?');
    for (const written of ['?v=1&w=a/b', '/?v=1&w=a/b', `${endpoint}?v=1&w=a/b#part`])
      assert.equal(await asked(written), `${queried}v=1&w=a/b`, written);
    await server.close();
  }
});

it('every form of OLLAMA_HOST is understood', async () => {
  const server = await startOpenAiChatServer({ answer });
  const port = portOf(server.url);
  const name = 'ollama/m';
  for (const OLLAMA_HOST of [
    `0.0.0.0:${port}`,
    `127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}`,
    `127.0.0.1:${port}/v1`,
  ]) {
    const model = await openModel(name, { providers: {}, env: { OLLAMA_HOST }, gates: gates(name) });
    assert.equal((await model.stream(ask(), () => undefined)).type, 'answer', OLLAMA_HOST);
  }
  await server.close();
  const wrong = await failing(name, { env: { OLLAMA_HOST: 'http://[' } });
  assert.equal(wrong.code, 'E_CONFIG');
  assert.match(wrong.message, /OLLAMA_HOST/);
});

it('an entry that only adds to a built-in provider keeps its address and key', async () => {
  const server = await startAnthropicServer({ answer });
  const price = { input: 1_000_000, output: 0 };
  const providers = {
    anthropic: providerConfig.parse({ type: 'anthropic', models: { m: { contextWindow: 5, price } } }),
  };
  const env = { ANTHROPIC_API_KEY: 'key-a', ANTHROPIC_BASE_URL: server.url };
  const model = await openModel('anthropic/m', { providers, env, gates: gates('anthropic/m') });
  const outcome = await model.stream(ask(), () => undefined);
  assert.ok(outcome.type === 'answer', JSON.stringify(outcome));
  assert.equal(outcome.usage.cost_usd, outcome.usage.input);
  assert.equal(model.context_window, 5);
  assert.equal(server.exchanges[0]?.headers['x-api-key'], 'key-a');
  assert.deepEqual(knownProviders(providers).find((one) => one.name === 'anthropic')?.key_env, [
    'ANTHROPIC_API_KEY',
  ]);
  await server.close();
  assert.equal((await failing('anthropic/m', { providers })).code, 'E_NO_KEY');
});

it('a key that no header can hold is told of by its variable before anything is sent', async () => {
  for (const key of ['sk-one\nsk-two', 'sk-“quoted”', 'sk-\u200b1', 'schlüssel', 'a\tb']) {
    const fault = await failing('anthropic/m', { env: { ANTHROPIC_API_KEY: key } });
    assert.equal(fault.code, 'E_NO_KEY');
    assert.match(fault.message, /^ANTHROPIC_API_KEY has a line break or a character that no key has$/);
  }
  for (const key of ['\ufeffsk-1\r\n', ' sk-1 '])
    await openModel('anthropic/m', {
      providers: {},
      env: { ANTHROPIC_API_KEY: key },
      gates: gates('anthropic/m'),
    });
});

it('a key of a letter or two masks no letters, a key at the place where a long message is cut stays whole and hidden', async () => {
  for (const [key, message, wanted] of [
    ['xi', 'Maximum call exceeded', /Maximum call exceeded/],
    ['sk-0123456789abcdef', `${'x'.repeat(490)} sk-0123456789abcdef`, /^(?!.*sk-01)/s],
  ] as const) {
    const server = await startAnthropicServer({ answer: () => ({ fault: { status: 400, message } }) });
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.url };
    const model = await openModel('anthropic/m', { providers: {}, env, gates: gates('anthropic/m') });
    const outcome = await model.stream(ask(), () => undefined);
    assert.ok(outcome.type === 'failure');
    assert.match(outcome.failure.error, wanted);
    await server.close();
  }
});

it('an entry of another type than the built-in provider of its name gets nothing of it, the key least of all', async () => {
  const server = await startOpenAiChatServer({ answer });
  const providers = {
    openai: providerConfig.parse({ type: 'openai-compatible', baseURL: `${server.url}/v1` }),
  };
  const model = await openModel('openai/m', {
    providers,
    env: { OPENAI_API_KEY: 'key-o' },
    gates: gates('openai/m'),
  });
  assert.equal((await model.stream(ask(), () => undefined)).type, 'answer');
  assert.equal(JSON.stringify(server.exchanges[0]?.headers).includes('key-o'), false);
  await server.close();
});

it('a token in configured headers is sent, and is kept out of errors', async () => {
  const token = 'secret-token-456';
  const server = await startOpenAiChatServer({
    answer: () => ({ fault: { status: 400, message: `bad ${token}` } }),
  });
  const headers = { authorization: `Bearer ${token}` };
  const providers = {
    mine: providerConfig.parse({ type: 'openai-compatible', baseURL: server.url, headers }),
  };
  const model = await openModel('mine/m', { providers, env: {}, gates: gates('mine/m') });
  const outcome = await model.stream(ask(), () => undefined);
  assert.equal(server.exchanges[0]?.headers.authorization, `Bearer ${token}`);
  assert.equal(outcome.type, 'failure');
  assert.equal(JSON.stringify(outcome).includes(token), false);
  await server.close();
});

it('names of object members are no providers', async () => {
  for (const name of ['constructor/x', '__proto__/x', 'toString/x'])
    assert.equal((await failing(name)).code, 'E_MODEL_UNKNOWN');
});

it('what names no model at all is told which providers there are, each once', async () => {
  const providers = { mine: providerConfig.parse({ type: 'openai-compatible' }) };
  assert.match((await failing('sonnet', { providers })).hint, /Providers: mine, anthropic, (?!.*anthropic)/);
});

it('an entry without an address, and unknown keys of one, are told', async () => {
  const providers = { mine: providerConfig.parse({ type: 'openai-compatible' }) };
  assert.match((await failing('mine/m', { providers })).hint, /providers\.mine\.baseURL/);
  const wrong = providerConfig.safeParse({ type: 'anthropic', baseUrl: 'http://x' });
  assert.match(wrong.error?.issues[0]?.message ?? '', /baseUrl/);
});

it('OpenAI summarises reasoning only for verified organisations: without, once found out for each model', async () => {
  const message = 'Your organization must be verified to generate reasoning summaries.';
  const error = {
    message,
    type: 'invalid_request_error',
    param: 'reasoning.summary',
    code: 'unsupported_value',
  };
  const server = await startOpenAiResponsesServer({
    answer: ({ body }) =>
      (body.reasoning as { summary?: string }).summary === undefined
        ? { text: 'fine' }
        : { fault: { status: 400, body: { error } } },
  });
  const quirks = memoryQuirks();
  const env = { OPENAI_API_KEY: 'key-o', OPENAI_BASE_URL: `${server.url}/v1` };
  for (const name of ['openai/gpt-5', 'openai/gpt-5-mini']) {
    const model = await openModel(name, { providers: {}, env, gates: gates(name), quirks });
    for (const cache_key of ['tree-1', 'tree-2']) {
      const outcome = await model.stream(ask({ thinking: 'high', cache_key }), () => undefined);
      assert.equal(outcome.type, 'answer', JSON.stringify(outcome));
    }
  }
  assert.deepEqual(
    server.exchanges.map(({ body }) => [body.reasoning, body.prompt_cache_key]),
    [
      [{ effort: 'high', summary: 'detailed' }, 'tree-1'],
      [{ effort: 'high' }, 'tree-1'],
      [{ effort: 'high' }, 'tree-2'],
      [{ effort: 'high', summary: 'detailed' }, 'tree-1'],
      [{ effort: 'high' }, 'tree-1'],
      [{ effort: 'high' }, 'tree-2'],
    ],
  );
  await server.close();
});

it('another 400 is not asked again', async () => {
  const server = await startOpenAiResponsesServer({
    answer: () => ({ fault: { status: 400, message: 'Invalid input' } }),
  });
  const env = { OPENAI_API_KEY: 'key-o', OPENAI_BASE_URL: `${server.url}/v1` };
  const model = await openModel('openai/gpt-5', { providers: {}, env, gates: gates('openai/gpt-5') });
  const outcome = await model.stream(ask({ thinking: 'high' }), () => undefined);
  assert.equal(outcome.type === 'failure' && outcome.failure.kind, 'bad_request');
  assert.equal(server.exchanges.length, 1);
  await server.close();
});

it('Google names its wait in the body, and it is waited for', async () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.2s' }];
  const fault = {
    status: 429,
    body: { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } },
  };
  const server = await startGoogleServer({
    answer: ({ index }) => (index === 0 ? { fault } : { text: 'fine' }),
  });
  const name = 'google/gemini-2.5-flash';
  const env = { GEMINI_API_KEY: 'key-g', GOOGLE_GEMINI_BASE_URL: server.url };
  const gate = new Gate({ attempts: 2, patience_ms: 0, base_ms: 0 });
  const model = await openModel(name, { providers: {}, env, gates: new Map([[name, gate]]) });
  const waits: (number | null)[] = [];
  const outcome = await model.stream(ask(), (delta) => {
    if (delta.type === 'waiting') waits.push(delta.delay_ms);
  });
  assert.equal(outcome.type, 'answer');
  // Only the body asks for a wait here.
  assert.ok(Number(waits[0]) > 0 && Number(waits[0]) <= 200, `${waits[0]}`);
  await server.close();
});

it('an account without credit is told at once, and no rate limit is taken for it', async () => {
  const error = (code: string, message: string) => ({ error: { code, type: code, message } });
  const quota = 'You exceeded your current quota, please check your plan and billing details.';
  for (const [status, body, kind, tries] of [
    [429, error('insufficient_quota', quota), 'no_credit', 1],
    [402, error('payment', 'Payment required'), 'no_credit', 1],
    [400, error('invalid_request_error', 'Your credit balance is too low'), 'no_credit', 1],
    [429, error('rate_limit_exceeded', quota), 'rate_limit', 2],
  ] as const) {
    const server = await startOpenAiResponsesServer({ answer: () => ({ fault: { status, body } }) });
    const env = { OPENAI_API_KEY: 'key-of-the-test', OPENAI_BASE_URL: `${server.url}/v1` };
    const gate = new Gate({ attempts: 2, patience_ms: 0, base_ms: 0 });
    const model = await openModel('openai/m', { providers: {}, env, gates: new Map([['openai/m', gate]]) });
    const outcome = await model.stream(ask(), () => undefined);
    assert.ok(outcome.type === 'failure');
    assert.equal(outcome.failure.kind, kind, outcome.failure.error);
    assert.equal(server.exchanges.length, tries);
    if (kind === 'no_credit')
      assert.match(outcome.failure.error, /no credit left: .*the key comes from OPENAI_API_KEY/);
    await server.close();
  }
});

it('siblings wait for the caches of Anthropic, OpenAI and Google, not for those of servers here or of unknown ones, unless the entry says so', async () => {
  const env = {
    KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    OPENAI_API_KEY: 'k',
    GEMINI_API_KEY: 'k',
    OPENROUTER_API_KEY: 'k',
  };
  const local = { type: 'anthropic', baseURL: 'http://127.0.0.1:1/v1', apiKeyEnv: 'KEY' } as const;
  const providers = {
    local,
    proxy: { ...local, baseURL: 'https://proxy.example/v1' },
    on: { ...local, siblingsWait: true },
    off: { ...local, baseURL: 'https://proxy.example/v1', siblingsWait: false },
  };
  const names = ['anthropic', 'openai', 'google', 'proxy', 'on', 'openrouter', 'ollama', 'local', 'off'];
  const waits = await Promise.all(
    names.map(async (name) => (await openModel(`${name}/some`, { providers, env })).caches_prefixes),
  );
  assert.deepEqual(waits, [true, true, true, true, true, false, false, false, false]);
});

it('models without a price on this machine or network are free: the default limits do not bind them', async () => {
  const at = (baseURL: string, price?: { input: number; output: number }) => ({
    ...({ type: 'openai-compatible', baseURL } as const),
    ...(price && { models: { some: { price } } }),
  });
  const providers = {
    here: at('http://127.0.0.1:8080/v1'),
    six: at('http://[::1]:8080/v1'),
    lan: at('http://192.168.1.20/v1'),
    ula: at('http://[fd00::5]/v1'),
    name: at('http://gpu.local:8000/v1'),
    container: at('http://vllm:8000/v1'),
    zero: at('http://10.0.0.1/v1', { input: 0, output: 0 }),
    priced: at('http://127.0.0.1:8080/v1', { input: 1, output: 2 }),
    far: at('https://models.example.com/v1'),
    number: at('http://8.8.8.8/v1'),
    trick: at('http://127.0.0.1.example.com/v1'),
  };
  const env = { ANTHROPIC_API_KEY: 'k', OPENROUTER_API_KEY: 'k' };
  const free: string[] = [];
  for (const name of [...Object.keys(providers), 'ollama', 'lmstudio', 'anthropic', 'openrouter'])
    if ((await openModel(`${name}/some`, { providers, env })).is_free) free.push(name);
  assert.deepEqual(free, ['here', 'six', 'lan', 'ula', 'name', 'container', 'zero', 'ollama', 'lmstudio']);
});

it('what a server does not take is told once, however many say so, and what one source says does not undo another', () => {
  const merged = mergeQuirks(
    { omit: ['seed', 'top_k'] },
    undefined,
    { omit: ['top_k', 'seed', 'user'], systemRole: false },
    {},
  );
  assert.deepEqual(merged, { omit: ['seed', 'top_k', 'user'], systemRole: false });
  assert.equal(quirksTold(mergeQuirks(merged, merged)), 'without seed, top_k, user; no system role');
});
