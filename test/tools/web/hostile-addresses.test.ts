/**
 * Proves that no spelling of an address, no DNS answer and no proxy leads `web_fetch` to this machine or its networks, and that only hosts named in the
 * configuration may be private.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import type { Tool } from '../../../src/records/tool.ts';
import { createWebFetchTool, type WebFetchOptions } from '../../../src/tools/web/web-fetch.ts';
import type { Lookup } from '../../../src/tools/web/web-request.ts';
import { call, makeWorkspace } from '../tool-fixture.ts';
import { webServer } from './web-server.ts';

const tool = (options: WebFetchOptions = {}) => createWebFetchTool({ robots: false, ...options }) as Tool;
const fetched = (url: string, options?: WebFetchOptions) => call(tool(options), { url }, makeWorkspace());
const refusal = (url: string, options?: WebFetchOptions) => tool(options).refusal?.({ url }, makeWorkspace());
const answers =
  (...addresses: string[]): Lookup =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const inside = () => webServer({ '/': 'inside' });

const PRIVATE = [
  '127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 0x7f.1 127.255.255.254 0 0.0.0.0 0x0 00.0.0.0',
  'localhost LOCALHOST localhost. a.localhost foo.localhost. %6c%6f%63alhost loc\u00adalhost ｌｏｃａｌｈｏｓｔ',
  '①②⑦.⓪.⓪.① １２７.0.0.1 127。0。0。1 127.0.0.1. 0x7f。1',
  '[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0000:0000:0000:0000:0000:ffff:7f00:0001] [::127.0.0.1] [::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1] [2002:7f00:1::] [2001::1] [fc00::1] [fd12:3456::1] [fe80::1] [fec0::1] [ff02::1] [100::1]',
  '169.254.169.254 0xa9fea9fe 2852039166 [::ffff:169.254.169.254] [fd00:ec2::254] 100.100.100.200',
  '10.0.0.1 10.1 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 100.64.0.1 198.18.0.1 224.0.0.1 255.255.255.255 240.0.0.1',
].flatMap((line) => line.split(' '));

describe('addresses of this machine and its networks', () => {
  it('are refused however they are written, before anybody is asked, and by redirects, too', async () => {
    const { port, asked } = await inside();
    assert.ok(PRIVATE.length > 50);
    for (const host of PRIVATE) {
      const url = `http://${host}:${port}/`;
      const { status, output } = await fetched(url);
      assert.equal(status, 'error', url);
      assert.match(output, /this machine or in a private network|is not an address/, url);
      assert.ok(await refusal(url), url);
    }
    assert.deepEqual(asked, []);
  });

  it('are refused when a name leads there, also beside an open address', async () => {
    const { port, asked } = await inside();
    for (const address of [
      '127.0.0.1',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '10.2.3.4',
      '169.254.169.254',
      'fe80::1%lo',
    ])
      assert.match(
        (await fetched(`http://innocent.example:${port}/`, { lookup: answers(address) })).output,
        /^innocent\.example is this machine or in a private network/,
        address,
      );
    assert.deepEqual(asked, []);
  });

  it('are refused when the answer of DNS changes between two looks', async () => {
    const { port, asked } = await inside();
    let looks = 0;
    const lookup: Lookup = (name, options, callback) => {
      looks += 1;
      answers(looks === 1 ? '127.0.0.1' : '169.254.169.254')(name, options, callback);
    };
    const named = `rebound.example:${port}`;
    // The address looked up for the connection is the one that is checked: one lookup per request, none before.
    const first = await fetched(`http://${named}/`, { lookup, private_hosts: [named] });
    assert.match(first.output, /inside/);
    assert.equal(looks, 1);
    assert.match((await fetched(`http://${named}/`, { lookup })).output, /private network/);
    assert.deepEqual(asked.splice(0), ['/']);
  });

  it('are asked if a person has named them, by port where one is named', async () => {
    const { port, asked } = await inside();
    assert.match(
      (await fetched(`http://localhost:${port}/`, { private_hosts: [`localhost:${port}`] })).output,
      /inside/,
    );
    assert.match((await fetched(`http://127.1:${port}/`, { private_hosts: ['127.0.0.1'] })).output, /inside/);
    const wiki = { lookup: answers('127.0.0.1'), private_hosts: ['*.corp.example'] };
    assert.match((await fetched(`http://wiki.corp.example:${port}/`, wiki)).output, /inside/);
    assert.match((await fetched(`http://corp.example.net:${port}/`, wiki)).output, /private network/);
    assert.match(
      (await fetched(`http://127.0.0.1:${port}/`, { private_hosts: ['127.0.0.1:1'] })).output,
      /private/,
    );
    asked.splice(0);
  });

  it('are not reached by a redirect from an open host', async () => {
    const { port, asked } = await inside();
    const away = await webServer({
      '/': (_, response) =>
        void response.writeHead(302, { location: `http://[::ffff:127.0.0.1]:${port}/` }).end(),
    });
    const { output } = await fetched(away.origin, { private_hosts: [`127.0.0.1:${away.port}`] });
    assert.match(output, /leads to http:\/\/\[::ffff:7f00:1\]:\d+\/, which was not read/);
    assert.deepEqual(asked, []);
  });
});

it('what is not an address of the web is refused', async () => {
  for (const [url, why] of [
    ['file:///etc/passwd', /begin with file:/],
    ['ftp://example.com/', /begin with ftp:/],
    ['data:text/html,x', /begin with data:/],
    ['javascript:alert(1)', /begin with javascript:/],
    ['example.com/x', /is not an address/],
    ['//example.com', /is not an address/],
    ['http://', /is not an address/],
    ['http://a b/', /is not an address/],
    ['http://user@example.com/', /user name or password/],
    ['http://:pw@example.com/', /user name or password/],
    ['http://example.com@127.0.0.1/', /user name or password/],
    ['http://example.com:22/', /port 22 is not one of web pages/],
    ['http://example.com:25/', /port 25 is not one/],
    ['http://example.com:99999/', /is not an address/],
    ['http://./', /has no host|is not an address/],
  ] as const) {
    assert.match((await fetched(url)).output, why, url);
    assert.match((await refusal(url)) ?? '', why, url);
  }
});

it('rules see one spelling of each address', () => {
  const subject = (url: string) => tool().subject({ url });
  for (const url of [
    'HTTP://Example.COM',
    'http://example.com:80/',
    'http://example.com./#x',
    'http://ex%61mple.com/a/..',
    'http:\\\\example.com\\',
  ])
    assert.equal(subject(url), 'http://example.com/', url);
  assert.equal(subject('https://bücher.example/ä'), 'https://xn--bcher-kva.example/%C3%A4');
  assert.equal(subject('nonsense'), 'nonsense');
});

describe('a proxy of the environment', () => {
  it('is used, looks names up itself, and is not asked for what is private', async () => {
    const through: string[] = [];
    const proxy = createServer((request, response) => {
      through.push(request.url ?? '');
      response.writeHead(200, { 'content-type': 'text/plain' }).end('by proxy');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    after(() => proxy.close());
    const { HTTP_PROXY, NO_PROXY, http_proxy, no_proxy } = process.env;
    process.env.http_proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    process.env.no_proxy = 'direct.example';
    after(() => {
      for (const [name, value] of Object.entries({ HTTP_PROXY, NO_PROXY, http_proxy, no_proxy }))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    });
    const unknown: Lookup = (_name, _options, callback) => callback(new Error('unknown'), []);
    assert.match((await fetched('http://only.proxy.example/x', { lookup: unknown })).output, /by proxy/);
    assert.deepEqual(through, ['http://only.proxy.example/x']);
    for (const url of ['http://10.0.0.1/', 'http://localhost/'])
      assert.match((await fetched(url)).output, /private network/);
    const inward = { lookup: answers('192.168.0.1') };
    assert.match((await fetched('http://known.example/', inward)).output, /private network/);
    assert.match((await fetched('http://direct.example/', inward)).output, /private network/);
    assert.equal(through.length, 1);
  });
});
