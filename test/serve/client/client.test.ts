// Proves that the typed client reaches every route with its parameters, retries only idempotent requests, follows events across a server restart, and reports
// errors as the rest of the program does; and that it loads no schemas.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { ROUTES } from '../../../src/serve/api/all-routes.ts';
import { CALLS, type CoppiceClient, openClient } from '../../../src/serve/client/client.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function set(): Promise<{ web: WebStage; client: CoppiceClient }> {
  const web = await setWebStage(({ user }) => `answer to ${user}`);
  closing.push(() => web.close());
  return { web, client: openClient({ url: web.url, token: web.token('write') }) };
}

/** A server that gives the answers it is told to give, and records the requests. */
async function answering(
  ...answers: readonly (number | 'cut')[]
): Promise<{ client: CoppiceClient; asked: { key: string | undefined; body: string }[] }> {
  const asked: { key: string | undefined; body: string }[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece;
    });
    request.on('end', () => {
      const answer = answers[asked.length] ?? 200;
      asked.push({ key: request.headers['idempotency-key'] as string | undefined, body });
      if (answer === 'cut') return void response.socket?.destroy();
      const error = {
        code: answer === 429 ? 'E_TOO_MANY_REQUESTS' : 'E_DB_UNAVAILABLE',
        message: 'later',
        hint: null,
        retryable: true,
      };
      response.writeHead(answer, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          answer === 200 ? { schema: 'coppice/entered/v1', id: 'x' } : { schema: 'coppice/error/v1', error },
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return {
    client: openClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'x' }),
    asked,
  };
}

it('has a method for every route', () => {
  assert.deepEqual(
    Object.values(CALLS)
      .map(({ route }) => route)
      .toSorted(),
    ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

it('starts, reads, writes, waits and kills', async () => {
  const { client } = await set();
  const { id } = await client.startTree({ prompt: 'count', limits: { depth: 1 } }, { key: 'once' });
  assert.equal((await client.startTree({ prompt: 'count' }, { key: 'once' })).id, id);
  assert.equal((await client.wait({ agents: [id], timeout_seconds: 20 })).timed_out, undefined);
  assert.equal((await client.agent(id)).last_reply, 'answer to count');
  const whole = await client.wait({ tree: id, timeout_seconds: 20 });
  assert.deepEqual([whole.timed_out, whole.results.map(({ agent_id }) => agent_id)], [undefined, [id]]);
  await assert.rejects(client.wait({ timeout_seconds: 0 }), { code: 'E_INVALID_ARGUMENT' });
  await client.send(id, { text: 'more' });
  await until(async () => (await client.agent(id)).last_reply === 'answer to more', 'the second answer');
  const { messages } = await client.messages(id, { after: 1, limit: 1 });
  assert.deepEqual(
    messages.map(({ seq }) => seq),
    [2],
  );
  assert.ok((await client.trees()).trees.some(({ root_id }) => root_id === id));
  assert.deepEqual((await client.kill(id)).killed, [id]);
});

it('reports errors with code, message and hint', async () => {
  const { web, client } = await set();
  await assert.rejects(client.agent('nobody'), {
    name: 'CoppiceError',
    code: 'E_AGENT_NOT_FOUND',
    retryable: false,
  });
  await assert.rejects(openClient({ url: web.url, token: 'wrong' }).trees(), { code: 'E_UNAUTHORIZED' });
  await assert.rejects(openClient({ url: 'http://127.0.0.1:1', token: 'x', tries: 1 }).trees(), {
    code: 'E_UNREACHABLE',
  });
  assert.throws(() => openClient({ url: 'ftp://x', token: 'x' }), { code: 'E_INVALID_ARGUMENT' });
  assert.throws(() => openClient({ url: web.url, token: 'a\nb' }), { code: 'E_INVALID_ARGUMENT' });
});

it('repeats what creates something with the same key, and what reads; other orders only where nothing happened', async () => {
  const creating = await answering(503, 'cut', 429);
  await creating.client.startTree({ prompt: 'x' });
  assert.equal(creating.asked.length, 4);
  assert.equal(new Set(creating.asked.map(({ key }) => key)).size, 1);
  assert.ok((creating.asked[0]?.key ?? '').length > 0);
  const reading = await answering('cut', 503);
  await reading.client.trees();
  assert.equal(reading.asked.length, 3);
  const ordering = await answering(429, 503);
  await assert.rejects(ordering.client.kill('x'), { code: 'E_DB_UNAVAILABLE' });
  assert.equal(ordering.asked.length, 2);
});

it('follows events over a restart of the server, and ends when told to', async () => {
  const { web, client } = await set();
  const stop = new AbortController();
  const types: string[] = [];
  const done = (async () => {
    for await (const { type, agent } of client.events({ signal: stop.signal })) {
      types.push(type);
      if (agent?.last_reply === 'answer to two') stop.abort();
    }
  })();
  await until(() => types.includes('resync'), 'it begins');
  const { port } = new URL(web.url);
  await web.close();
  closing.length = 0;
  const again = await setWebStage(
    ({ user }) => `answer to ${user}`,
    {},
    {
      port: Number(port),
      access: { ...web.access, scopeOf: () => 'read' } as unknown as typeof web.access,
    },
  );
  closing.push(() => again.close());
  await until(() => types.filter((type) => type === 'resync').length === 2, 'it comes back');
  await again.stage.start('two');
  await done;
});

it('throws when the server refuses its events', async () => {
  const { web } = await set();
  const events = openClient({ url: web.url, token: 'wrong' }).events();
  await assert.rejects(events.next(), { code: 'E_UNAUTHORIZED' });
});

it('loads no schemas', () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const list = join(temporaryFolder(), 'modules');
  execFileSync(
    process.execPath,
    ['--import', join(root, 'test/house/loaded-modules.ts'), join(root, 'src/serve/client/client.ts')],
    { env: { ...process.env, LOADED_MODULES: list } },
  );
  const modules = readFileSync(list, 'utf8').trim().split('\n');
  assert.ok(modules.some((url) => url.endsWith('client-request.ts')));
  assert.deepEqual(
    modules.filter((url) => /zod|hono|shapes|-routes/.test(url)),
    [],
  );
});
