/** Proves that sandboxed programs can neither get past the proxy to what is not allowed, nor harm the process that runs it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { call, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from './test-sandbox.ts';

/** Special answers by path, most of which no proxy can pass on; on other paths, the server returns the text of the request. */
const ANSWERS: Readonly<Record<string, string>> = {
  '/status': 'HTTP/1.1 099 No\r\n\r\n',
  '/zero': 'HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n',
  '/header': 'HTTP/1.1 200 OK\r\nX: a\u0001b\r\n\r\n',
  '/switch': 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  '/nothing': 'nonsense\r\n\r\n',
  '/elsewhere': 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2/\r\nContent-Length: 0\r\n\r\n',
};

describe('the proxy of the sandbox', { skip: NO_SANDBOX }, () => {
  const context = makeWorkspace();
  let [open, most] = [0, 0];
  const server = createServer((socket) => {
    open += 1;
    most = Math.max(most, open);
    socket.on('close', () => {
      open -= 1;
    });
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      const path = text.split(' ')[1] ?? '';
      socket.end(ANSWERS[path] ?? `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<${text}>`);
    });
  });
  let port = 0;
  let tool: Tool;
  const run = async (command: string) => {
    return (await call(tool, { command: command.replaceAll('PORT', String(port)), timeout: 30 }, context))
      .output;
  };
  /** A command that sends the text to the proxy unchanged, and prints the answer. */
  const send = (text: string) =>
    `exec 3<>/dev/tcp/127.0.0.1/3128; printf '${text}' >&3; timeout 3 cat <&3; exec 3>&-;`;

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    tool = createBashTool(testSandbox({ hosts: [`127.0.0.1:${port}`] })) as Tool;
  });
  after(() => server.close());

  it('passes nothing to hosts that are spelt, hidden or mixed in some way', async () => {
    const targets = [
      '127.0.0.1:PORT@127.0.0.2:PORT',
      '[::ffff:127.0.0.2]:PORT',
      '[::1%%25lo]:PORT',
      '127.2:PORT',
      '0:PORT',
      '0x7f000002:PORT',
      '127.0.0.1:1PORT',
      '127.0.0.1:0',
      '127.0.0.1:-1',
      'localhost:PORT',
      'localhost.:PORT',
      '127.0.0.1.:1',
      ':PORT',
      '',
      '/',
      'https://127.0.0.1:PORT/',
    ];
    const tries = targets.flatMap((target) => [
      send(`CONNECT ${target} HTTP/1.1\\r\\nHost: 127.0.0.1:PORT\\r\\n\\r\\n`),
      send(`GET http://${target}/ HTTP/1.1\\r\\nHost: 127.0.0.1:PORT\\r\\nConnection: close\\r\\n\\r\\n`),
    ]);
    most = 0;
    const answer = await run(tries.join('\n'));
    assert.equal(answer.match(/^HTTP.1.1 40[03]/gm)?.length, tries.length, answer);
    assert.equal(most, 0);
  });

  it('names the host that it asked, whatever the request says', async () => {
    const answer = await run(
      `${send('GET http://127.0.0.1:PORT/a HTTP/1.1\\r\\nHost: other.example\\r\\nProxy-Authorization: x\\r\\nConnection: close\\r\\n\\r\\n')} ${send('GET http://127.0.0.1:PORT/b HTTP/1.1\\r\\nHost: a\\r\\nHost: b\\r\\nContent-Length: 1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://127.0.0.1:PORT/c HTTP/1.1\\r\\n\\r\\n')}`,
    );
    assert.match(answer, new RegExp(`<GET /a .*host: 127\\.0\\.0\\.1:${port}\n`, 'is'));
    assert.doesNotMatch(answer, /other\.example|authorization|GET \/c/i);
  });

  it('passes on what a program sends with its request for a tunnel', async () => {
    const answer = await run(
      send('CONNECT 127.0.0.1:PORT HTTP/1.1\\r\\n\\r\\nGET /early HTTP/1.1\\r\\n\\r\\n'),
    );
    assert.match(answer, /200 Connected\n\nHTTP\/1\.1 200 OK.*<GET \/early/s);
  });

  it('outlives answers that cannot be passed on, redirects and long headers', async () => {
    const paths = Object.keys(ANSWERS).map(
      (path) => `curl -s -m 3 --noproxy "" http://127.0.0.1:PORT${path};`,
    );
    const output = await run(
      `${paths.join(' ')} curl -sL -m 3 --noproxy "" http://127.0.0.1:PORT/elsewhere; printf 'GET http://127.0.0.1:PORT/ HTTP/1.1\\r\\nX: %0100000d\\r\\n\\r\\n' 1 > request; (exec 3<>/dev/tcp/127.0.0.1/3128; cat request >&3; timeout 2 head -1 <&3); curl -s -m 3 --noproxy "" http://127.0.0.1:PORT/still`,
    );
    assert.match(output, /the sandbox does not allow 127\.0\.0\.2:80/);
    assert.match(output, /<GET \/still/);
  });

  it('bounds the connections that programs hold open', async () => {
    writeFileSync(
      join(context.cwd, 'many.mjs'),
      `import net from 'node:net';
const all = Array.from({ length: 1500 }, () => new Promise((resolve) => {
  const one = net.connect(3128, '127.0.0.1', () => one.write('CONNECT 127.0.0.1:PORT HTTP/1.1\\r\\n\\r\\n'));
  one.once('data', () => resolve(1)).once('close', () => resolve(0)).once('error', () => resolve(0));
}));
console.log('reached', (await Promise.all(all)).reduce((sum, one) => sum + one, 0));
process.exit();`.replaceAll('PORT', String(port)),
    );
    most = 0;
    const reached = Number(/reached (\d+)/.exec(await run('node many.mjs'))?.[1]);
    assert.ok(reached > 0 && reached <= 1000, `${reached} reached it`);
    assert.ok(most <= 1000, `${most} at once`);
    // The connections of the previous call are closed one by one after its sandbox has ended.
    const ask = 'curl -s -m 5 --noproxy "" http://127.0.0.1:PORT/after';
    assert.match(await run(`for i in $(seq 25); do ${ask} && break; sleep 0.2; done`), /<GET \/after/);
  });
});
