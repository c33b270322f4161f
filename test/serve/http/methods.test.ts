// Proves what a server says of methods: each path answers 405 with the methods that it has, HEAD is GET without a body, OPTIONS lists, and none of this opens a path to whoever has no token.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { ROUTES } from '../../../src/serve/api/all-routes.ts';
import { openClient } from '../../../src/serve/client/client.ts';
import { PAGES } from '../../../src/serve/http/guard.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

let web: WebStage;
before(async () => {
  web = await setWebStage(() => 'done', {}, { rate: { take: () => 0 } });
});
after(() => web.close());

const OTHERS = [
  '/metrics',
  '/v1/session',
  '/v1/events',
  '/v1/openapi.json',
  '/healthz',
  '/readyz',
  '/trees',
  '/',
];
const paths = [...new Set([...ROUTES.map(({ path }) => path), ...OTHERS])];
const methodsOf = (path: string) =>
  OTHERS.includes(path) ? ['GET'] : ROUTES.filter((route) => route.path === path).map(({ method }) => method);
const pathOf = (path: string) => path.replaceAll(/:[a-z]+/g, 'abcd');

it('a method that a path does not have is 405, with those that it has', async () => {
  for (const path of paths) {
    const methods = methodsOf(path) as string[];
    const allowed = new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      if (allowed.has(method)) continue;
      const { status, headers, json } = await web.ask(pathOf(path), { method });
      assert.equal(status, 405, `${method} ${path}`);
      assert.equal(json.error.code, 'E_NO_SUCH_PATH');
      assert.deepEqual(new Set(`${headers.allow}`.split(', ')), allowed, `${method} ${path}`);
    }
    const options = await web.ask(pathOf(path), { method: 'OPTIONS' });
    assert.equal(options.status, 204, path);
    assert.deepEqual(new Set(`${options.headers.allow}`.split(', ')), allowed);
  }
  for (const method of ['GET', 'PUT', 'OPTIONS', 'HEAD'])
    for (const path of ['/v1/nothing', '/v1', '/v2/trees', '/v1/trees/a/b/c'])
      assert.equal((await web.ask(path, { method })).status, 404, `${method} ${path}`);
});

it('HEAD answers as GET does, without the body, and leaves no stream open', async () => {
  for (const path of ['/v1/trees', '/v1/workers', ...OTHERS]) {
    const { status, text, headers } = await web.ask(path, { method: 'HEAD' });
    assert.equal(status, path === '/' || path === '/trees' ? (await web.ask(path)).status : 200, path);
    assert.equal(text, '');
    if (path === '/v1/events') assert.match(`${headers['content-type']}`, /^text\/event-stream/);
  }
  assert.equal((await web.ask('/v1/trees/abcd', { method: 'HEAD' })).status, 404);
  assert.match((await web.ask('/metrics')).text, /^coppice_stream_clients 0$/m);
  for (const path of ['/', '/v1/openapi.json'])
    assert.notEqual((await web.ask(path, { method: 'HEAD', token: null })).status, 401, path);
});

it('without a token every method of every other path is 401, and says which token is meant', async () => {
  for (const path of paths
    .filter((one) => one.startsWith('/v1/') && one !== '/v1/openapi.json')
    .concat('/metrics', '/mcp', '/v1/nothing'))
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE']) {
      const { status, headers } = await web.ask(pathOf(path), { method, token: null });
      assert.equal(status, 401, `${method} ${path}`);
      assert.equal(headers['www-authenticate'], 'Bearer realm="coppice"');
    }
  for (const path of [
    '/v1/openapi.json/',
    '/v1/openapi.json/x',
    '/v1/openapi.jsonx',
    '/v1/openapiXjson',
    '//v1/trees',
    '/v1/./trees',
    '/v1/openapi.json/../trees',
  ])
    assert.notEqual((await web.ask(path, { token: null })).status, 200, path);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    assert.equal((await web.ask('/v1/openapi.json', { method, token: null })).status, 401, method);
  const used = await web.ask('/login', { method: 'POST', token: null });
  assert.equal(used.headers['www-authenticate'], 'Bearer realm="coppice"');
});

it('a path that is not there names the one that is like it', async () => {
  for (const [path, near] of [
    ['/v1/trees/abcd/kill', 'POST /v1/agents/abcd/kill'],
    ['/v1/agents/abcd/timeline', 'GET /v1/trees/abcd/timeline'],
    ['/v1/agnets', '/v1/agents'],
    ['/v1/tree/abcd', '/v1/trees/abcd'],
    ['/v1/trees/', '/v1/trees'],
    ['/v2/jobs/nightly', '/v1/jobs/nightly'],
  ]) {
    const { status, json } = await web.ask(`${path}`);
    assert.deepEqual([status, json.error.hint], [404, `Did you mean ${near}? See /v1/openapi.json`], path);
  }
  for (const path of ['/v1', '/v1/nothing', '/v1/trees/abcd/b/c', '/v1/trees/abcd/halt'])
    assert.equal((await web.ask(path)).json.error.hint, 'See /v1/openapi.json', path);
});

it('hints name requests, and commands to people at our command line', async () => {
  const client = openClient({ url: web.url, token: web.token('write') });
  for (const [method, path, request, command] of [
    ['GET', '/v1/agents/nobody', 'GET /v1/agents?all=true', 'coppice ps --all'],
    ['GET', '/v1/jobs/none', 'GET /v1/jobs', 'coppice cron list'],
    ['GET', '/v1/runs/none', 'GET /v1/runs', 'coppice subagent history'],
    ['POST', '/v1/approvals/none/deny', 'GET /v1/approvals', 'coppice approvals list'],
    ['DELETE', '/v1/rules/none', 'GET /v1/rules', 'coppice approvals rules list'],
    ['POST', '/v1/workers/none/drain', 'GET /v1/workers', 'coppice worker list'],
  ] as const) {
    const asked = (headers: Record<string, string>) => web.ask(path, { method, headers });
    assert.equal((await asked({})).json.error.hint, `See: ${request}`, path);
    assert.equal((await asked({ 'coppice-commands': 'true' })).json.error.hint, `See: ${command}`, path);
  }
  await assert.rejects(client.job('none'), { hint: 'See: coppice cron list' });
  const { json } = await web.ask('/v1/trees?outcome=cut%20short');
  assert.equal(json.error.hint, 'Did you mean cut_short? See /v1/openapi.json');
});

it('~ in the folder of a tree is the home folder of the server', async () => {
  const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'x', cwd: '~/no/such' } });
  assert.equal(json.error.message, `there is no folder ${join(homedir(), 'no/such')}`);
});

it('OPTIONS * and TRACE leave the server alive', async () => {
  for (const line of ['OPTIONS * HTTP/1.1', 'TRACE /v1/trees HTTP/1.1', 'CONNECT /v1/trees HTTP/1.1']) {
    const { hostname, port } = new URL(web.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () =>
        socket.end(
          `${line}\r\nHost: ${web.host}\r\nAuthorization: Bearer ${web.token('write')}\r\nConnection: close\r\n\r\n`,
        ),
      );
      socket
        .on('data', (data) => assert.doesNotMatch(`${data}`, /^HTTP\/1.1 (200|500)/))
        .on('error', () => resolve())
        .on('close', () => resolve());
    });
  }
  assert.equal((await web.ask('/healthz')).status, 200);
  assert.deepEqual(web.troubles, []);
});

it('each page of the dashboard is one for the server, too, when it is opened by its address', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../web/views/pages.tsx'), 'utf8');
  const pages = [...text.matchAll(/path: '(\w+)'|seldom\((?:'.'|null), '(\w+)'/g)].map(([, a, b]) => a ?? b);
  assert.deepEqual(new Set(pages), new Set(PAGES));
});
