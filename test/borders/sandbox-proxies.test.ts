/**
 * Proves that sandboxed programs reach allowed hosts through the proxy of the environment where there is one, with its login, except hosts of NO_PROXY and this
 * machine; that the proxy is asked for nothing that is not allowed; and that a proxy that refuses or is gone fails the request, and nothing else.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Tool } from '../../src/records/tool.ts';
import { createBashTool } from '../../src/tools/bash.ts';
import { NO_SANDBOX, testSandbox } from '../processes/sandbox/test-sandbox.ts';
import { call, makeWorkspace } from '../tools/tool-fixture.ts';

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe('a sandbox behind a proxy', { skip: NO_SANDBOX }, () => {
  const seen: string[] = [];
  const direct: string[] = [];
  let status = 200;
  const own = createServer((request, response) => {
    direct.push(`${request.method} ${request.url} ${request.headers.host}`);
    response.end(`<${request.url}>`);
  });
  const proxy = createServer((request, response) => {
    const { host, ...headers } = request.headers;
    seen.push(`${request.method} ${request.url} host=${host} login=${headers['proxy-authorization']}`);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk;
    });
    request.on('end', () => response.writeHead(status).end(`by the proxy <${body}>`));
  }).on('connect', (request, inner) => {
    seen.push(`CONNECT ${request.url} login=${request.headers['proxy-authorization']}`);
    if (status !== 200) return void inner.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    inner.write('HTTP/1.1 200 OK\r\n\r\n');
    const outer = connect(portOf(own), '127.0.0.1');
    inner.pipe(outer).pipe(inner);
    for (const one of [inner, outer]) one.on('error', () => undefined);
  });
  const saved = VARIABLES.map((name) => [name, process.env[name]] as const);
  const context = makeWorkspace();
  let tool: Tool;
  const run = async (command: string) => (await call(tool, { command, timeout: 30 }, context)).output;

  before(async () => {
    for (const server of [own, proxy]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const hosts = ['far.invalid', '*.corp.invalid', `127.0.0.1:${portOf(own)}`, '93.184.215.14'];
    tool = createBashTool(testSandbox({ hosts })) as Tool;
  });
  beforeEach(() => {
    seen.length = direct.length = 0;
    status = 200;
    for (const name of VARIABLES) delete process.env[name];
    const url = `http://me:p%40ss@127.0.0.1:${portOf(proxy)}`;
    Object.assign(process.env, { HTTP_PROXY: url, https_proxy: url });
  });
  after(() => {
    for (const [name, value] of saved)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    for (const server of [own, proxy]) {
      server.closeAllConnections();
      server.close();
    }
  });
  const LOGIN = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;

  it('reaches hosts that only the proxy resolves: requests and tunnels, with what is sent along', async () => {
    const output = await run(
      'curl -s -d body -H "Proxy-Authorization: mine" http://far.invalid/a?b; curl -sp http://x.corp.invalid:8080/c',
    );
    assert.equal(output, 'by the proxy <body></c>');
    assert.deepEqual(seen, [
      `POST http://far.invalid/a?b host=far.invalid login=${LOGIN}`,
      `CONNECT x.corp.invalid:8080 login=${LOGIN}`,
    ]);
    assert.deepEqual(direct, ['GET /c x.corp.invalid:8080']);
  });

  it('asks the proxy by name or address as the program did, and for nothing that is not allowed', async () => {
    const output = await run(
      'curl -s http://93.184.215.14/; for u in http://other.invalid/ http://127.0.0.2/ http://169.254.169.254/; do curl -s $u; curl -sp $u -w "%{http_connect}"; done',
    );
    assert.match(output, /^by the proxy <>/);
    assert.equal(output.match(/the sandbox does not allow/g)?.length, 3, output);
    assert.equal(output.match(/403/g)?.length, 3, output);
    assert.deepEqual(seen, [`GET http://93.184.215.14/ host=93.184.215.14 login=${LOGIN}`]);
  });

  it('leaves out hosts of NO_PROXY and this machine', async () => {
    process.env.NO_PROXY = 'nothing.invalid,.corp.invalid';
    const output = await run(
      `curl -s --noproxy "" http://127.0.0.1:${portOf(own)}/own; curl -s http://x.corp.invalid/; curl -sp http://x.corp.invalid/ -w "%{http_connect}"`,
    );
    assert.equal(output.match(/x\.corp\.invalid cannot be resolved/g)?.length, 1, output);
    assert.match(output, /^<\/own>.*403\n/s);
    assert.deepEqual([seen, direct.length], [[], 1]);
  });

  it('tells what the proxy refuses, and that it is gone, and works on afterwards', async () => {
    status = 407;
    const refused = await run(
      'curl -s http://far.invalid/ -w "%{http_code}"; curl -sp http://far.invalid/ -w "%{http_connect}"',
    );
    assert.match(refused, /407.*407/s);
    process.env.HTTP_PROXY = process.env.https_proxy = 'http://127.0.0.1:1';
    const gone = await run(
      'curl -s http://far.invalid/ -w "%{http_code}"; curl -sp http://far.invalid/ -w "%{http_connect}"',
    );
    assert.match(gone, /502.*000/s);
    process.env.HTTP_PROXY = process.env.https_proxy = 'http://a%zz@127.0.0.1:1';
    await run('curl -s http://far.invalid/; curl -sp http://far.invalid/');
    process.env.HTTP_PROXY = process.env.https_proxy = 'socks5://127.0.0.1:1';
    assert.match(await run('curl -s http://far.invalid/'), /far\.invalid cannot be resolved/);
    process.env.HTTP_PROXY = `http://127.0.0.1:${portOf(proxy)}`;
    status = 200;
    assert.equal(await run('curl -s http://far.invalid/'), 'by the proxy <>');
  });
});
