/**
 * Proves that `web_search` calls each service as its documentation says, against real servers that check requests, and is offered only if a service is
 * configured.
 */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { it } from 'node:test';
import type { AgentConfig } from '../../../src/records/agent/agent.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { createWebSearchTool, type WebSearchOptions } from '../../../src/tools/web/web-search.ts';
import { call, makeWorkspace } from '../tool-fixture.ts';
import { webServer } from './web-server.ts';

const KEYS = { BRAVE_API_KEY: 'brave-key', TAVILY_API_KEY: 'tavily-key', OWN_KEY: 'own-key' };
const search = (options: WebSearchOptions | null, input: object, env: NodeJS.ProcessEnv = KEYS) =>
  call(createWebSearchTool(options, env) as Tool, input, makeWorkspace());
const THREE = ['One', 'Two', 'Three'];

/** A service that answers requests that match its documentation; any other gets 400. */
async function service(path: string, answer: (request: IncomingMessage, url: URL) => Promise<unknown>) {
  return webServer({
    [path]: (request, response) =>
      void answer(request, new URL(request.url ?? '', 'http://x')).then(
        (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
        (error: Error) => response.writeHead(400, error.message).end(),
      ),
  });
}

const brave = () =>
  service('/res/v1/web/search', async ({ method, headers }, { searchParams }) => {
    assert.equal(method, 'GET');
    assert.equal(headers['x-subscription-token'], 'brave-key');
    assert.deepEqual(Object.fromEntries(searchParams), {
      q: 'tall trees',
      count: '2',
      text_decorations: 'false',
    });
    return {
      type: 'search',
      web: {
        type: 'search',
        results: THREE.map((title) => ({
          title,
          url: `https://example.com/${title}`,
          description: `About\u001b[1m ${title}`,
        })),
      },
    };
  });
const tavily = () =>
  service('/search', async (request) => {
    assert.equal(request.method, 'POST');
    assert.equal(request.headers.authorization, 'Bearer tavily-key');
    assert.deepEqual(await json(request), { query: 'tall trees', max_results: 2 });
    return {
      query: 'tall trees',
      answer: null,
      results: THREE.map((title) => ({
        title,
        url: `https://example.com/${title}`,
        content: `About ${title}`,
        score: 0.9,
      })),
      response_time: 1.2,
    };
  });
const searxng = () =>
  service('/searx/search', async ({ method, headers }, { searchParams }) => {
    assert.equal(method, 'GET');
    assert.equal(headers.authorization, undefined);
    assert.deepEqual(Object.fromEntries(searchParams), { q: 'tall trees', format: 'json' });
    return {
      query: 'tall trees',
      number_of_results: 0,
      results: THREE.map((title) => ({
        title,
        url: `https://example.com/${title}`,
        content: `About ${title}`,
        engine: 'x',
      })),
    };
  });

it('asks Brave, Tavily and SearXNG, and shows what they found in a frame', async () => {
  for (const [type, server, path] of [
    ['brave', await brave(), '/res/v1'],
    ['tavily', await tavily(), ''],
    ['searxng', await searxng(), '/searx/'],
  ] as const) {
    const { status, output } = await search(
      { type, baseURL: `${server.origin}${path}` },
      { query: ' tall trees ', max_results: 2 },
    );
    assert.equal(status, 'ok', output);
    assert.match(
      output,
      new RegExp(
        `^--- [0-9a-f]{8} results of ${type} for "tall trees", written by strangers\n1\\. One\n   https://example.com/One\n   About One\n\n2\\. Two\n`,
      ),
    );
    assert.ok(!output.includes('Three'));
    assert.equal(server.asked.length, 1);
  }
});

it('names what is wrong: a key, an address, the service, its answer', async () => {
  const { origin } = await webServer({
    '/401/search': (_, response) => void response.writeHead(401).end('{"detail": "no"}'),
    '/403/search': (_, response) => void response.writeHead(403).end(),
    '/429/search': (_, response) => void response.writeHead(429).end(),
    '/odd/search': '<html>',
    '/none/search': '{"results": []}',
  });
  const query = { query: 'x' };
  const at = async (type: WebSearchOptions['type'], path: string) =>
    (await search({ type, baseURL: `${origin}/${path}`, apiKeyEnv: 'OWN_KEY' }, query)).output;
  assert.match(await at('tavily', '401'), /answered 401 Unauthorized: its key is not valid$/);
  assert.match(await at('searxng', '403'), /must allow the format json/);
  assert.match(await at('tavily', '429'), /too many searches/);
  assert.match(await at('tavily', 'odd'), /not one of its kind: is web\.search\.type right/);
  assert.equal(await at('searxng', 'none'), '[nothing found]');
  assert.match((await search({ type: 'searxng' }, query)).output, /needs "baseURL"/);
  const missing = { type: 'brave', apiKeyEnv: 'NO_SUCH' } as const;
  assert.match((await search(missing, query)).output, /the environment variable NO_SUCH is not set/);
  assert.match((await createWebSearchTool(missing, {}).refusal?.(query, makeWorkspace())) ?? '', /NO_SUCH/);
  assert.match(
    (await search({ type: 'brave', baseURL: 'http://127.0.0.1:1' }, query)).output,
    /could not be asked/,
  );
});

it('is offered only where a service is configured', () => {
  const config = {} as AgentConfig;
  assert.equal(createWebSearchTool(null).audience?.(config), false);
  assert.equal(createWebSearchTool({ type: 'tavily' }).audience?.(config), true);
});
