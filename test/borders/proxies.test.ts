/**
 * Proves that every kind of connection that leaves the machine goes through the proxy of the environment: of models, webhooks and traces, Telegram, and MCP
 * (the global fetch of the command line); and that addresses of this machine and of NO_PROXY are reached directly.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import { unconnected } from '../../src/models/provider/http-fetch.ts';
import { failedProxy, proxyOptions, unusedProxy } from '../../src/processes/hosts/proxies.ts';

const seen: string[] = [];
const proxy = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.writeHead(502).end();
}).on('connect', (request, socket) => {
  seen.push(`CONNECT ${request.url}`);
  socket.end('HTTP/1.1 502 no\r\n\r\n');
});
const direct: string[] = [];
const own = createServer((request, response) => {
  direct.push(`${request.url}`);
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
const listen = (server: Server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const portOf = (server: Server) => (server.address() as AddressInfo).port;

before(() => Promise.all([listen(proxy), listen(own)]));
after(() => {
  for (const server of [proxy, own]) {
    server.closeAllConnections();
    server.close();
  }
});

const SOURCE = new URL('../../src/', import.meta.url).href;
const PROGRAM = `
import { getText } from '${SOURCE}models/provider/http-fetch.ts';
import { post } from '${SOURCE}channels/webhook/post.ts';
import { proxyFetch } from '${SOURCE}processes/hosts/proxies.ts';
import { BotClient } from '${SOURCE}channels/telegram/bot/bot-client.ts';
await proxyFetch();
const signal = AbortSignal.timeout(20_000);
for (const base of process.argv.slice(1)) {
  await getText(base + '/models', {}, { signal, idle_ms: 9_000 }).catch(() => {});
  await post(new URL(base + '/webhook'), {}, Buffer.from('x'), signal);
  await fetch(base + '/mcp').catch(() => {});
  const bot = new BotClient('1:a', base, {});
  await bot.ask((api, ended) => api.getMe(ended), signal, 5_000);
  await bot.close?.();
}
process.exit(0);
`;

async function run(env: Record<string, string>, ...bases: string[]): Promise<void> {
  seen.length = 0;
  direct.length = 0;
  const args = ['--input-type=module', '-e', PROGRAM, '--', ...bases];
  await promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH ?? '', ...env } });
}

const url = () => `http://127.0.0.1:${portOf(proxy)}`;

for (const [variables, of] of [
  [(at: string) => ({ HTTPS_PROXY: at, HTTP_PROXY: at }), 'capital letters'],
  [(at: string) => ({ https_proxy: at, http_proxy: at }), 'small letters'],
  [(at: string) => ({ HTTPS_PROXY: ` ${at.slice(7)} `, HTTP_PROXY: at.slice(7) }), 'the short form of curl'],
] as const)
  it(`connections of all kinds use the proxy in ${of}`, async () => {
    await run(variables(url()), 'https://far.invalid', 'http://far.invalid');
    assert.equal(seen.filter((one) => one === 'CONNECT far.invalid:443').length, 4, seen.join());
    // The global fetch asks for a tunnel in Node 24, and like the others in Node 26.
    const plain = seen
      .filter((one) => one !== 'CONNECT far.invalid:443')
      .map((one) => (one === 'CONNECT far.invalid:80' ? 'mcp' : one.split('/').at(-1)));
    assert.deepEqual(plain, ['models', 'webhook', 'mcp', 'getMe']);
  });

it('addresses of this machine, and those of NO_PROXY, are reached directly', async () => {
  const variables = { HTTPS_PROXY: url(), HTTP_PROXY: url() };
  await run(variables, `http://127.0.0.1:${portOf(own)}`, `http://localhost:${portOf(own)}`);
  assert.deepEqual(seen, []);
  assert.equal(direct.length, 8);
  await run({ ...variables, NO_PROXY: 'far.invalid,.corp' }, 'https://far.invalid', 'http://a.corp');
  assert.deepEqual(seen, []);
});

it('what is no address of an HTTP proxy stops nothing, and is named where a connection fails', async () => {
  const odd = ['socks5://127.0.0.1:1', '"http://127.0.0.1:1"', 'http://', 'a proxy'];
  for (const value of odd) {
    assert.deepEqual(proxyOptions({ HTTPS_PROXY: value }), {});
    assert.equal(unusedProxy({ HTTPS_PROXY: value }), 'HTTPS_PROXY');
    assert.equal(unusedProxy({ https_proxy: 'proxy:3128', http_proxy: value }), 'http_proxy');
  }
  assert.equal(unusedProxy({ HTTPS_PROXY: 'proxy.corp:3128' }), null);
  await run(
    { HTTPS_PROXY: 'http://', http_proxy: '"http://127.0.0.1:1"' },
    `http://127.0.0.1:${portOf(own)}`,
  );
  assert.equal(direct.length, 4);
});

it('a proxy that is down is named where a connection fails, and none for an address that it does not serve', () => {
  const env = { HTTPS_PROXY: 'http://user:secret@proxy.corp:3128', HTTP_PROXY: 'proxy.corp' };
  const refused = { code: 'ECONNREFUSED', address: '10.0.0.1', port: 3128 };
  assert.equal(failedProxy(refused, 'far', env), 'proxy.corp:3128');
  assert.equal(failedProxy({ errors: [{}, refused] }, 'far', env), 'proxy.corp:3128');
  assert.equal(failedProxy({ code: 'ENOTFOUND', hostname: 'proxy.corp' }, 'far', env), 'proxy.corp:3128');
  for (const [error, host] of [
    [refused, 'near.corp:3128'],
    [{ ...refused, port: 443 }, 'far'],
    [undefined, 'far'],
  ] as const)
    assert.equal(failedProxy(error, host, env), null);
});

const OTHERS = `
import { proxyFor } from '${SOURCE}processes/hosts/proxies.ts';
const found = [];
for (const value of ['proxy.corp:3128', 'https://proxy.corp:3128', 'socks5://proxy.corp:1']) {
  process.env.https_proxy = value;
  found.push((await proxyFor(new URL('https://far.invalid/')))?.href ?? null);
}
console.log(JSON.stringify(found));
`;

it('pages of the web and commands get the proxy in the form in which it was meant', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', OTHERS]);
  assert.deepEqual(JSON.parse(stdout), ['http://proxy.corp:3128/', 'https://proxy.corp:3128/', null]);
});

it('a failed connection says what its code means', () => {
  for (const [code, cause, told] of [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', {}, /not trusted.* NODE_EXTRA_CA_CERTS\b/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', {}, /not trusted/],
    ['CERT_HAS_EXPIRED', {}, /not valid/],
    ['EPROTO', {}, /is its address http:/],
    ['HPE_INVALID_CONSTANT', {}, /does not speak HTTP there: is its address https:/],
    ['HPE_HEADER_OVERFLOW', {}, /headers of its answer are too large$/],
    ['ERR_PROXY_TUNNEL', { statusCode: 407 }, /\(ERR_PROXY_TUNNEL 407\); the proxy .* refused$/],
    ['ECONNREFUSED', undefined, /^cannot reach far:1 \(ECONNREFUSED\)$/],
  ] as const)
    assert.match(unconnected('far:1', code, cause).message, told);
});

it('a certificate that is not trusted names the file that was given for it, and whether it is there', () => {
  const before = process.env.NODE_EXTRA_CA_CERTS;
  const told = (file: string) => {
    process.env.NODE_EXTRA_CA_CERTS = file;
    return unconnected('far:1', 'SELF_SIGNED_CERT_IN_CHAIN').message;
  };
  try {
    assert.match(told('/no/company.pem'), /CERTS; now that is \/no\/company\.pem, which is not there$/);
    const { filename } = import.meta;
    assert.ok(told(filename).endsWith(`; now that is ${filename}, which does not have it`));
  } finally {
    if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
    else process.env.NODE_EXTRA_CA_CERTS = before;
  }
});

it('without proxies nothing changes', async () => {
  await run({}, `http://127.0.0.1:${portOf(own)}`);
  assert.equal(direct.length, 4);
});
