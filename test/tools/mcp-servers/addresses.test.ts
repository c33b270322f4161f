/**
 * Proves that servers can be used at a URL, too, in the newest version of the protocol, with headers from the environment, and that their faults give clear
 * errors.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { McpServer } from '../../../src/tools/mcp-servers/mcp-server.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { type HttpBehaviour, startHttpServer } from '../../servers/mcp-http-server.ts';
import { toolOf } from './servers.ts';

after(closeOpened);

async function at(behaviour: HttpBehaviour = {}, more: object = {}, env = {}) {
  const http = await startHttpServer(behaviour);
  const config = { url: http.url, ...more };
  const server = new McpServer('web', config, { cwd: '/', env, sandbox: null });
  closeLater(() => http.close());
  closeLater(() => server.close());
  const call = async (
    name: string,
    input: Record<string, unknown> = {},
    signal = new AbortController().signal,
  ) => server.call(await toolOf(server, name), input, { signal, onProgress: () => undefined });
  return { http, server, call };
}

describe('an MCP server at an address', () => {
  it('is spoken to in the newest version', async () => {
    const { server, call, http } = await at();
    assert.deepEqual(
      (await server.tools()).map(({ name }) => name),
      ['add', 'hang'],
    );
    const greeting = await server.greeting();
    assert.deepEqual([greeting.about, greeting.version], ['by-http 3.2.1', '2026-07-28']);
    assert.deepEqual((await call('add', { a: 1, b: 2 })).content, [{ type: 'text', text: '3' }]);
    assert.ok(http.eras.every((era) => era === 'modern'));
  });

  it('gets headers from the environment', async () => {
    const headersEnv = { Authorization: 'TRACKER' };
    const { http, call } = await at({ token: 'Bearer abc' }, { headersEnv }, { TRACKER: 'Bearer abc' });
    await call('add', { a: 1, b: 2 });
    assert.ok(http.authorizations.every((one) => one === 'Bearer abc'));
    const unset = await at({ token: 'Bearer abc' }, { headersEnv });
    await assert.rejects(
      unset.server.tools(),
      /the variable TRACKER for its header Authorization is not set/,
    );
    const denied = await at({ token: 'Bearer abc' });
    await assert.rejects(denied.server.tools(), /could not be reached at http.*401|Unauthorized/i);
  });

  it('that nobody answers at is told, and found again when it is back', async () => {
    const { server, http } = await at();
    await http.close();
    await assert.rejects(
      server.tools(),
      /could not be reached at http:\/\/127\.0\.0\.1:\d+\/mcp: .*ECONNREFUSED/,
    );
  });

  it('that hangs is given up', async () => {
    const { call } = await at({}, { timeoutSeconds: 1.5 });
    await assert.rejects(call('hang'), /gave neither a result nor a sign of progress within 1.5 s/);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(call('hang', {}, controller.signal));
    assert.deepEqual((await call('add', { a: 2, b: 2 })).content, [{ type: 'text', text: '4' }]);
  });

  const events = 'text/event-stream';
  for (const [what, flood, why] of [
    ['a line without an end', { type: events, again: 'x'.repeat(1_000_000) }, /a message that is too large/],
    [
      'an event without an end',
      { type: events, again: `data: ${'x'.repeat(1_000_000)}\r\n` },
      /a message that is too large/,
    ],
    [
      'an event of too many values',
      { type: events, start: ': "\ndata: [', again: '[],'.repeat(100_000) },
      /a message that is too large/,
    ],
    [
      'a body of too many values',
      { type: 'application/json', start: '[', again: '{},\n'.repeat(100_000) },
      /a message that is too large/,
    ],
    [
      'too many events',
      { type: events, again: 'data: {"jsonrpc":"2.0","method":"x"}\r\n\r\n'.repeat(1_000) },
      /too many messages or too much data/,
    ],
  ] as const)
    it(`that sends ${what} is ended, in bounded memory`, async ({ mock }) => {
      const { call } = await at({ flood }, { timeoutSeconds: 300 });
      // On a slow machine a flood would be spread over a longer time than counts as one.
      const now = performance.now();
      mock.method(performance, 'now', () => now);
      const before = process.memoryUsage().arrayBuffers;
      await assert.rejects(call('add', { a: 1, b: 2 }), why);
      assert.ok(process.memoryUsage().arrayBuffers - before < 200 * 1024 * 1024);
    });
});
