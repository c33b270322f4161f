/**
 * Proves that an MCP server is started only when it is needed, and that one that hangs, exits, floods or does not speak MCP causes a clear error and nothing
 * else.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { McpServer } from '../../../src/tools/mcp-servers/mcp-server.ts';
import { closeOpened } from '../../close-opened.ts';
import { isRunning } from '../../runtime/is-running.ts';
import { eventually } from '../tool-fixture.ts';
import { testingServer, toolOf } from './servers.ts';

after(closeOpened);

async function call(
  server: McpServer,
  name: string,
  input: Record<string, unknown> = {},
  signal = new AbortController().signal,
  onProgress: (text: string) => void = () => undefined,
): Promise<string> {
  const answer = await server.call(await toolOf(server, name), input, { signal, onProgress });
  const [block] = answer.content as readonly { readonly text?: string }[];
  return block?.text ?? '';
}

describe('an MCP server', () => {
  it('is started on first use, and tells its tools and its version', async () => {
    const server = testingServer();
    const names = (await server.tools()).map(({ name }) => name);
    assert.ok(names.includes('echo') && names.includes('hang'));
    const greeting = await server.greeting();
    assert.deepEqual([greeting.about, greeting.version], ['testing 1.2.3', '2025-11-25']);
    assert.equal(await call(server, 'echo', { text: 'hello' }), 'hello');
  });

  it('that ends at a request of newer versions is greeted as the older ones prescribe', async () => {
    assert.equal(await call(testingServer({ strict: true }), 'echo', { text: 'a' }), 'a');
  });

  it('may write lines that are no messages', async () => {
    assert.equal(await call(testingServer({ chatty: true }), 'echo', { text: 'a' }), 'a');
  });

  it('lists its tools page by page', async () => {
    assert.equal((await testingServer({ extra: 400 }).tools()).length, 415);
  });

  it('sees nothing of the environment but what is allowed', async () => {
    const server = testingServer(
      {},
      { env: { MODE: 'x' }, envAllow: ['TRACKER'] },
      { TRACKER: 't', SECRET: 's' },
    );
    const names = (await call(server, 'environment')).split(' ');
    assert.ok(names.includes('MODE') && names.includes('TRACKER') && names.includes('PATH'));
    assert.ok(!names.includes('SECRET'));
  });

  it('that cannot be started says why, and is not tried again at once', async () => {
    const server = testingServer({ broken: true });
    await assert.rejects(server.tools(), {
      message: 'ended with exit code 7; last output on stderr: no licence key found',
    });
    await assert.rejects(server.tools(), /no licence key found \(the next attempt is possible in \d+ s/);
    const missing = testingServer({}, { command: 'no-such-program' });
    await assert.rejects(missing.tools(), {
      message: 'could not be started: there is no command "no-such-program"',
    });
  });

  it('that ends with an error is quoted with what went wrong, not with where it was then', async () => {
    const lost = testingServer({}, { command: process.execPath, args: ['no-such-server.mjs'] });
    await assert.rejects(lost.tools(), (error: Error) => {
      assert.match(error.message, /Cannot find module '\S*no-such-server\.mjs'/);
      assert.doesNotMatch(error.message, / at /);
      return true;
    });
  });

  it('that does not answer the greeting is given up', async () => {
    await assert.rejects(
      testingServer({ silent: true }, { startTimeoutSeconds: 0.3 }).tools(),
      /did not answer within 0.3 s/,
    );
  });

  it('that hangs in a call is told so, and can be asked again', async () => {
    const server = testingServer({}, { timeoutSeconds: 1 });
    await assert.rejects(call(server, 'hang'), {
      message: 'gave neither a result nor a sign of progress within 1 s',
      unknown_outcome: true,
    });
    assert.equal(await call(server, 'cancelled'), '1');
  });

  it('has time as long as it shows progress', async () => {
    const server = testingServer({}, { timeoutSeconds: 0.5 });
    const told: string[] = [];
    const worked = call(server, 'work', { steps: 8, ms: 120 }, undefined, (text) => told.push(text));
    assert.equal(await worked, 'worked');
    assert.equal(told[0], '1 of 8 working\n');
  });

  it('is told of a call that is cancelled', async () => {
    const server = testingServer();
    await server.tools();
    const controller = new AbortController();
    const hanging = call(server, 'hang', {}, controller.signal);
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(hanging);
    assert.equal(await call(server, 'cancelled'), '1');
  });

  it('that ends in a call leaves its last words, and is started again by the next', async () => {
    const server = testingServer();
    const before = await call(server, 'pid');
    await assert.rejects(call(server, 'die'), {
      message: 'ended with exit code 3; last output on stderr: the disk is on fire',
      unknown_outcome: true,
    });
    assert.notEqual(await call(server, 'pid'), before);
  });

  for (const how of ['messages', 'line', 'text'] as const)
    it(`that floods with ${how} is ended, in bounded memory`, async ({ mock }) => {
      const server = testingServer({}, { timeoutSeconds: 3_600 });
      await server.tools();
      // On a slow machine a flood would be spread over a longer time than counts as one.
      const now = performance.now();
      mock.method(performance, 'now', () => now);
      const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
      await assert.rejects(
        call(server, 'flood', { how }),
        /it sent (?:too many messages|a message that is too large)/,
      );
      const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before;
      assert.ok(grown < 400 * 1024 * 1024, `${grown} bytes`);
      assert.equal(await call(server, 'echo', { text: 'again' }), 'again');
    });

  it('and all that it started end when it is closed', async () => {
    const server = testingServer();
    const [own, stray] = [Number(await call(server, 'pid')), Number(await call(server, 'stray'))];
    assert.ok(isRunning(own) && isRunning(stray));
    await server.close();
    assert.ok(await eventually(() => !isRunning(own) && !isRunning(stray)));
    await assert.rejects(server.tools(), { message: 'was closed' });
  });

  it('that changes its tools is asked for them again', async () => {
    const server = testingServer();
    await call(server, 'change');
    assert.ok(await eventually(() => server.listed.some(({ name }) => name === 'sing')));
    assert.ok(!server.listed.some(({ name }) => name === 'echo'));
  });
});
