/**
 * Proves that agent programs can use a server over Streamable HTTP as over pipes, on both databases: behind its guard, each client as one lasting agent, many
 * at once.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { closeLater } from '../close-opened.ts';
import { type Database, onBothDatabases } from '../runtime/both-databases.ts';
import { setWebStage, type WebStage } from '../serve/http/web-stage.ts';
import { until } from '../until.ts';

const JSON_TYPE = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

async function open(database: Database): Promise<WebStage> {
  const web = await setWebStage(
    ({ user }) =>
      /hang/.test(user)
        ? new Promise<never>(() => undefined)
        : `did ${/TASK (\w+)/.exec(user)?.[1] ?? 'something'}`,
    { database: await database() },
  );
  closeLater(async () => {
    await web.close();
    assert.deepEqual(web.troubles, []);
  });
  return web;
}

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

/** Sends one request of the newer protocol era. */
async function ask(
  web: WebStage,
  method: string,
  params: object,
  {
    path = '/mcp',
    client = 'tester',
    headers = {},
    token = 'write' as 'read' | 'write' | null,
    signal = null as AbortSignal | null,
  } = {},
): Promise<Reply> {
  const named = params as { name?: string; taskId?: string; uri?: string };
  const response = await fetch(`${web.url}${path}`, {
    method: 'POST',
    signal,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(named.name === undefined ? {} : { 'Mcp-Name': named.name }),
      ...(named.taskId === undefined ? {} : { 'Mcp-Name': named.taskId }),
      ...(named.uri === undefined ? {} : { 'Mcp-Name': named.uri }),
      ...(token === null ? {} : { Authorization: `Bearer ${web.token(token)}` }),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
          'io.modelcontextprotocol/clientCapabilities':
            method.startsWith('tasks/') || path === '/mcp/tasked' ? TASKS : {},
        },
      },
    }),
  });
  const text = await response.text();
  const line = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { status: response.status, json: line.startsWith('{') ? JSON.parse(line) : line };
}

const told = ({ json }: Reply) => JSON.parse(json.result.content[0].text);

onBothDatabases('coppice serve at /mcp', (database) => {
  it('lets in only who may write, with the right host and origin', async () => {
    const web = await open(database);
    assert.equal((await ask(web, 'tools/list', {}, { token: null })).status, 401);
    assert.equal((await ask(web, 'tools/list', {}, { token: 'read' })).status, 403);
    assert.equal(
      (await ask(web, 'tools/list', {}, { headers: { Origin: 'http://evil.example' } })).status,
      403,
    );
    const { status, json } = await ask(web, 'tools/list', {});
    assert.deepEqual([status, json.result.tools.length], [200, 9]);
  });

  it('stops the agents of a call that its client gives up, in the newer protocol only', async () => {
    const web = await open(database);
    const { store } = web.stage;
    for (const [era, path] of [
      ['modern', '/mcp/new'],
      ['legacy', '/mcp/old'],
    ] as const) {
      const call = { name: 'spawn_agents', arguments: { tasks: [{ task: `hang ${era}` }] } };
      const leaving = new AbortController();
      const { signal } = leaving;
      const left =
        era === 'modern'
          ? ask(web, 'tools/call', call, { path, signal })
          : fetch(`${web.url}${path}`, {
              method: 'POST',
              signal,
              headers: { ...JSON_TYPE, Authorization: `Bearer ${web.token('write')}` },
              body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
            }).then((response) => response.text());
      const agent = async () => (await store.agents({})).find(({ name }) => name === `hang-${era}`);
      await until(async () => (await agent())?.state.type === 'requesting', `${era}: it is at work`);
      leaving.abort();
      await assert.rejects(left as Promise<unknown>, /abort/i);
      if (era === 'modern')
        await until(async () => (await agent())?.state.type === 'killed', 'it is stopped');
    }
    const kept = (await store.agents({})).find(({ name }) => name === 'hang-legacy');
    assert.equal(kept?.state.type, 'requesting');
    await store.kill(kept?.id ?? '', 'test', Date.now());
  });

  it('serves a client as one lasting agent, by its name or that of the address', async () => {
    const web = await open(database);
    await ask(web, 'tools/call', { name: 'fork', arguments: { name: 'one', prompt: 'TASK one' } });
    const waited = await ask(web, 'tools/call', {
      name: 'wait',
      arguments: { timeout: 20, from_agents: ['one'] },
    });
    assert.equal(told(waited).results[0].last_reply, 'did one');
    const other = { client: 'other' };
    assert.deepEqual(
      told(await ask(web, 'tools/call', { name: 'list_agents', arguments: {} }, other)).agents,
      [],
    );
    const unknown = await ask(
      web,
      'tools/call',
      { name: 'wait', arguments: { from_agents: ['one'] } },
      other,
    );
    assert.match(JSON.stringify(unknown.json), /AGENT_NOT_FOUND/);
    const named = { client: 'other', path: '/mcp/tester' };
    const listed = told(await ask(web, 'tools/call', { name: 'list_agents', arguments: {} }, named));
    assert.deepEqual(
      listed.agents.map(({ name }: { name: string }) => name),
      ['one'],
    );
  });

  it('answers each request of a batch of the older era, and takes null for no arguments', async () => {
    const web = await open(database);
    const response = await fetch(`${web.url}/mcp`, {
      method: 'POST',
      headers: { ...JSON_TYPE, Authorization: `Bearer ${web.token('write')}` },
      body: JSON.stringify([
        { jsonrpc: '2.0', id: 1, method: 'tools/list', params: null },
        { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_agents', arguments: null } },
      ]),
    });
    const answers = (await response.text()).match(/\{"(?:jsonrpc|result|id)".*\}/g) ?? [];
    const all = answers.flatMap((one) => JSON.parse(one)) as { id: number; result?: { tools?: unknown } }[];
    assert.deepEqual(
      all.map(({ id, result }) => [id, result !== undefined]).sort(),
      [
        [1, true],
        [2, true],
      ],
      JSON.stringify(all),
    );
  });

  it('carries out many calls at once, each once', async () => {
    const web = await open(database);
    const calls = Array.from({ length: 12 }, (_, at) =>
      ask(web, 'tools/call', {
        name: 'spawn_agents',
        arguments: { tasks: [{ task: `TASK t${at}`, label: `t${at}` }] },
      }),
    );
    const results = (await Promise.all(calls)).map((reply) => told(reply).results[0]);
    assert.deepEqual(
      results.map(({ message }) => message),
      results.map((_, at) => `did t${at}`),
    );
    const { agents } = told(await ask(web, 'tools/call', { name: 'list_agents', arguments: { all: true } }));
    assert.equal(agents.length, 12);
  });

  it('keeps tasks for whoever comes back under the same name', async () => {
    const web = await open(database);
    const path = '/mcp/tasked';
    const { json } = await ask(
      web,
      'tools/call',
      { name: 'spawn_agents', arguments: { tasks: [{ task: 'TASK x' }] } },
      { path },
    );
    assert.equal(json.result.resultType, 'task');
    for (let tries = 0, status = ''; status !== 'completed'; tries += 1) {
      const { json: got } = await ask(web, 'tasks/get', { taskId: json.result.taskId }, { path });
      status = got.result.status;
      if (status === 'completed') assert.match(JSON.stringify(got.result), /did x/);
      assert.ok(tries < 200);
    }
    const stranger = await ask(web, 'tasks/get', { taskId: json.result.taskId }, { path: '/mcp/stranger' });
    assert.equal(stranger.json.error.code, -32602);
  });

  it('refuses what is no message of a client, and goes on after clients that leave in the middle', async () => {
    const web = await open(database);
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, at]));
    for (const [body, status, code] of [
      ['{', 400, -32700],
      ['[]', 400, -32600],
      [deep, 400, -32600],
      [`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":${deep}}}`, 400, -32600],
      [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: keys }), 400, -32600],
    ] as const) {
      const answer = await web.ask('/mcp', { method: 'POST', body, headers: JSON_TYPE });
      assert.deepEqual([answer.status, answer.json.error.code], [status, code]);
    }
    const headers = { 'Content-Type': 'text/plain' };
    assert.equal((await ask(web, 'tools/list', {}, { headers })).status, 415);
    for (const method of ['GET', 'DELETE'])
      assert.equal((await web.ask('/mcp', { method, headers: { 'Mcp-Session-Id': 'x' } })).status, 405);
    // Clients that disconnect in the middle of a body or of a call.
    const leaving = Array.from({ length: 30 }, async (_, at) => {
      const headers = { Authorization: `Bearer ${web.token('write')}`, ...JSON_TYPE };
      const gone = AbortSignal.timeout(20 + 5 * at);
      const half = new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode('{"jso')) });
      const call = { name: 'wait', arguments: { timeout: 5 } };
      const whole = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
      const body = at % 2 === 0 ? half : whole;
      await fetch(`${web.url}/mcp`, { method: 'POST', headers, body, duplex: 'half', signal: gone } as never);
    });
    const left = await Promise.allSettled(leaving);
    assert.ok(left.filter(({ status }) => status === 'rejected').length > 10);
    assert.equal((await ask(web, 'tools/list', {})).status, 200);
  });
});
