// Proves that nobody gets past the guard of the HTTP interface: each known vulnerability of local servers has a test of its own.
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { ROUTES } from '../../../src/serve/api/all-routes.ts';
import { Access } from '../../../src/serve/http/access.ts';
import { RateLimit } from '../../../src/serve/http/guard.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

let web: WebStage;
before(async () => {
  // Every route is tried in many ways within a second.
  web = await setWebStage(() => 'done', {}, { rate: { take: () => 0 } });
});
after(() => web.close());

const HOST = '127.0.0.1:4747';
const pathOf = (path: string) => path.replaceAll(/:[a-z]+/g, 'abcd');
/** Opens a link as the dashboard does. */
const redeem = (link: string) => {
  const { pathname, hash } = new URL(link);
  return web.ask(pathname, { method: 'POST', token: null, headers: { 'coppice-code': hash.slice(1) } });
};
/** Signs in; returns the two headers of the session. */
const signIn = async (query = ''): Promise<{ cookie: string; 'coppice-key': string }> => {
  const link = await web.ask(`/v1/login-links${query}`, { method: 'POST', body: {} });
  const { headers, status, text, json } = await redeem(link.json.url);
  assert.equal(status, 200, text);
  const [cookie = ''] = headers['set-cookie'] as string[];
  return { cookie: cookie.split(';')[0] ?? '', 'coppice-key': json.key };
};

describe('a token, always', () => {
  it('CVE-2026-22812, CVE-2025-49596: no route answers without one, and none with a wrong one', async () => {
    for (const { method, path } of ROUTES)
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'Basic YTpi' }]) {
        const answer = await web.ask(pathOf(path), { method, token: null, headers });
        assert.equal(answer.status, 401, `${method} ${path}: ${answer.text}`);
      }
    assert.equal((await web.ask('/v1/session', { token: null })).status, 401);
  });

  it('is no part of a URL', async () => {
    for (const name of ['token', 'access_token', 'key'])
      assert.equal((await web.ask(`/v1/trees?${name}=${web.token('write')}`, { token: null })).status, 401);
  });

  it('the one that reads changes nothing', async () => {
    for (const { method, path, scope } of ROUTES) {
      const { status, json } = await web.ask(pathOf(path), { method, token: 'read' });
      if (scope === 'write') assert.equal(json.error.code, 'E_FORBIDDEN', `${method} ${path}`);
      else assert.notEqual(status, 403, `${method} ${path}`);
    }
  });

  it('is 256 bits in a file that only its owner reads, and a replaced one is dead at once', async () => {
    for (const scope of ['write', 'read'] as const) {
      assert.equal(statSync(web.access.fileOf(scope)).mode & 0o777, 0o600);
      assert.equal(Buffer.from(web.token(scope), 'base64url').length, 32);
    }
    assert.notEqual(web.token('write'), web.token('read'));
    const session = await signIn();
    const old = web.token('write');
    const asked = (headers: Record<string, string>) => web.ask('/v1/session', { token: null, headers });
    assert.equal((await asked(session)).status, 200);
    // Another process replaces the token.
    new Access(web.folder).rotate('write');
    assert.equal((await asked({ authorization: `Bearer ${old}` })).status, 401);
    assert.equal((await asked(session)).status, 401);
    assert.equal((await web.ask('/v1/session')).status, 200);
  });

  it('an emptied file lets nobody in', () => {
    const access = new Access(web.folder);
    const text = web.token('read');
    writeFileSync(access.fileOf('read'), '');
    assert.equal(access.scopeOf(''), null);
    assert.equal(access.scopeOf(text), null);
    access.rotate('read');
  });
});

describe('other sites', () => {
  it('CVE-2025-66414: a name that was made to resolve to this machine is refused before anything else', async () => {
    const port = web.host.split(':')[1];
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      '127.0.0.1',
    ]) {
      const answer = await web.ask('/v1/trees', { headers: { host } });
      assert.ok([403, 400].includes(answer.status), `${host}: ${answer.status}`);
    }
    for (const path of ['/healthz', '/login?code=x', '/'])
      assert.equal((await web.ask(path, { headers: { host: 'evil.example' } })).status, 403, path);
    for (const host of [web.host, `localhost:${port}`, `LocalHost:${port}`, `[::1]:${port}`])
      assert.equal((await web.ask('/v1/session', { headers: { host } })).status, 200, host);
  });

  it('a page of another site is refused, even with the token', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      `https://${web.host}`,
      `http://${web.host}.evil.example`,
    ]) {
      const answer = await web.ask('/v1/trees', { headers: { origin } });
      assert.equal(answer.status, 403, origin);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
    for (const origin of [web.url, web.url.toUpperCase(), web.url.replace('127.0.0.1', 'LOCALHOST')])
      assert.equal((await web.ask('/v1/session', { headers: { origin } })).status, 200, origin);
  });

  it('a host of the configuration is one in any case, also where a proxy adds TLS, and so is the word before a token', async () => {
    const named = await setWebStage(
      () => 'done',
      {},
      { hosts: ['Agents.Example:80'], rate: { take: () => 0 } },
    );
    for (const host of ['agents.example:80', 'AGENTS.EXAMPLE:80', 'Agents.Example:80'])
      for (const word of ['Bearer', 'bearer', 'BEARER']) {
        const headers = { host, origin: `http://${host}`, authorization: `${word} ${named.token('read')}` };
        assert.equal(
          (await named.ask('/v1/session', { token: null, headers })).status,
          200,
          `${host} ${word}`,
        );
      }
    for (const [origin, status] of [
      ['https://agents.example:80', 200],
      ['HTTPS://Agents.Example:80', 200],
      [`https://${named.host}`, 403],
    ] as const)
      assert.equal((await named.ask('/v1/session', { headers: { origin } })).status, status, origin);
    await named.close();
  });

  it('a session writes only from the page of this server', async () => {
    const session = await signIn();
    const write = (headers: Record<string, string>) =>
      web.ask('/v1/trees', {
        method: 'POST',
        body: { prompt: 'x' },
        token: null,
        headers: { ...session, ...headers },
      });
    assert.equal((await write({})).status, 403);
    assert.equal((await write({ origin: web.url, 'sec-fetch-site': 'same-site' })).status, 403);
    assert.equal((await write({ origin: 'https://evil.example' })).status, 403);
    assert.equal((await write({ origin: web.url, 'sec-fetch-site': 'same-origin' })).status, 200);
  });
});

describe('signing in', () => {
  it('a link works once, and its cookie is out of reach of scripts and other sites', async () => {
    const link = await web.ask('/v1/login-links', { method: 'POST', body: {} });
    const first = await redeem(link.json.url);
    assert.match(String(first.headers['set-cookie']), /HttpOnly/);
    assert.match(String(first.headers['set-cookie']), /SameSite=Strict/);
    assert.match(String(first.headers['set-cookie']), new RegExp(`^coppice_${web.host.split(':')[1]}=`));
    assert.equal((await redeem(link.json.url)).status, 401);
    // Its code is no part of the address that is sent.
    assert.equal(new URL(link.json.url).search, '');
  });

  it('a link of a read-only token, or for reading, signs in a session that changes nothing', async () => {
    for (const [path, token] of [
      ['/v1/login-links', 'read'],
      ['/v1/login-links?scope=read', 'write'],
    ] as const) {
      const link = await web.ask(path, { method: 'POST', body: {}, token });
      assert.equal(link.json.scope, 'read');
    }
  });

  it('the cookie alone, which the browser sends to every port of this machine, is worth nothing', async () => {
    const session = await signIn();
    const other = await signIn('?scope=read');
    const { cookie } = session;
    const forged = [
      {},
      { origin: web.url },
      {
        origin: web.url,
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
      { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      { referer: `${web.url}/trees`, 'x-forwarded-for': '127.0.0.1', 'x-requested-with': 'XMLHttpRequest' },
      { origin: web.url, 'coppice-key': '' },
      { origin: web.url, 'coppice-key': cookie },
      { origin: web.url, 'coppice-key': other['coppice-key'] },
      { origin: web.url, 'coppice-code': cookie, authorization: `Bearer ${cookie}` },
    ];
    const more = ['/v1/session', '/v1/events', '/metrics', '/mcp'];
    const gets = more.map((path) => ({ method: 'GET', path }));
    const posts = ['/login', '/mcp', '/v1/login-links', '/v1/logout'].map((path) => ({
      method: 'POST',
      path,
    }));
    for (const { method, path } of [...ROUTES, ...gets, ...posts])
      for (const headers of forged) {
        const how = { method, token: null, headers: { cookie, ...headers } };
        const { status } = await web.ask(pathOf(path), method === 'GET' ? how : { ...how, body: {} });
        assert.equal(status, 401, `${method} ${path} ${JSON.stringify(headers)}`);
      }
    assert.equal((await web.ask('/v1/session', { token: null, headers: session })).status, 200);
    assert.equal((await web.ask('/v1/session', { token: null, headers: other })).json.scope, 'read');
  });

  it('a cookie of that name from another port neither locks out nor takes over', async () => {
    const session = await signIn();
    const [name = ''] = session.cookie.split('=');
    const theirs = (await signIn('?scope=read')).cookie;
    // Those for narrower paths come first.
    for (const tossed of [
      `${name}=x`,
      `${name}="`,
      theirs,
      `${name}=`,
      Array(15).fill(`${name}=x`).join('; '),
    ]) {
      const headers = { ...session, cookie: `${tossed}; a=b; ${session.cookie}` };
      assert.equal((await web.ask('/v1/session', { token: null, headers })).json.scope, 'write', tossed);
      const alone = { ...session, cookie: tossed };
      assert.equal((await web.ask('/v1/session', { token: null, headers: alone })).status, 401, tossed);
    }
  });

  it('a session makes no further links', async () => {
    const session = await signIn();
    const answer = await web.ask('/v1/login-links', {
      method: 'POST',
      body: {},
      token: null,
      headers: { ...session, origin: web.url },
    });
    assert.equal(answer.status, 403);
  });

  it('an older code, a forged session, and one that is over are refused', () => {
    let now = 1_000_000;
    const access = new Access(web.folder, () => now);
    const { code } = access.newCode('write');
    now += 60_001;
    assert.equal(access.redeem(code, HOST), null);
    const signed = access.redeem(access.newCode('read').code, HOST);
    assert.ok(signed !== null);
    const { cookie, key } = signed;
    const scopeOf = (forged: string) => access.scopeOfSession({ cookie: forged, key }, HOST);
    assert.equal(scopeOf(cookie), 'read');
    assert.equal(scopeOf(cookie.replace('read', 'write')), null);
    assert.equal(scopeOf(cookie.replace(/\.\d+\./, '.9999999999999.')), null);
    for (const forged of ['', 'write', 'write.9999999999999', 'write.NaN.x', '..', key])
      assert.equal(scopeOf(forged), null);
    const [name = '', until = '', signature = ''] = cookie.split('.');
    // A script of the page has the key, but not the rest.
    for (const forged of [`${name}.${until}`, `${name}.${until}.`, `${name}.${until}.${key}`])
      assert.equal(scopeOf(forged), null);
    for (const forged of ['', 'x', signature, cookie, `${name}.${until}.${key}`])
      assert.equal(access.scopeOfSession({ cookie, key: forged }, HOST), null);
    // What a browser held for this name is worth nothing at another one.
    assert.equal(access.scopeOfSession(signed, '127.0.0.1:4748'), null);
    now += 8 * 24 * 3_600_000;
    assert.equal(scopeOf(cookie), null);
  });

  it('codes that nobody uses do not pile up', () => {
    const access = new Access(web.folder);
    const codes = Array.from({ length: 1_000 }, () => access.newCode('write').code);
    assert.ok(codes.filter((code) => access.redeem(code, HOST) !== null).length <= 100);
  });
});

describe('pages and limits', () => {
  it('every answer forbids frames, foreign scripts and guessing of types', async () => {
    for (const path of ['/', '/trees', '/v1/trees', '/nothing', '/healthz', '/assets/dashboard.js']) {
      const { headers } = await web.ask(path);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /default-src 'none'; script-src 'self';/, path);
      assert.doesNotMatch(policy, /unsafe|\*/, path);
      assert.match(policy, /frame-ancestors 'none'/, path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
      assert.equal(headers['x-frame-options'], 'DENY', path);
    }
  });

  it('files beside the dashboard cannot be read', async () => {
    for (const path of [
      '/assets/../package.json',
      '/assets/..%2fpackage.json',
      '/assets/%2e%2e/style.css',
      '/assets/x',
    ]) {
      const answer = await web.ask(path);
      assert.notEqual(answer.status, 200, path);
    }
  });

  it('a client that sends too much waits; others do not', () => {
    let now = 0;
    const rate = new RateLimit(() => now);
    const taken = Array.from({ length: 1_000 }, () => rate.take('one')).filter((wait) => wait === 0).length;
    assert.equal(taken, 400);
    assert.ok(rate.take('one') > 0);
    assert.equal(rate.take('other'), 0);
    now += 1_000;
    assert.equal(
      Array.from({ length: 1_000 }, () => rate.take('one')).filter((wait) => wait === 0).length,
      200,
    );
  });

  it('whoever sends too much is told when to come back, also without a token', async () => {
    const strict = await setWebStage(() => 'unused', {}, { rate: new RateLimit(() => 0) });
    for (let sent = 0; sent < 400; sent += 1)
      assert.equal((await strict.ask('/healthz', { token: null })).status, 200);
    for (const path of ['/healthz', '/v1/session']) {
      const { status, headers, json } = await strict.ask(path, { token: null });
      assert.deepEqual([status, headers['retry-after'], json?.error.retryable], [429, '1', true], path);
    }
    await strict.close();
  });

  it('what went wrong inside stands in the log, not in the answer', async () => {
    const deliveries = () => Promise.reject(new TypeError('about the inside'));
    const broken = await setWebStage(() => 'unused', { wrap: (store) => ({ ...store, deliveries }) });
    const { status, text } = await broken.ask('/v1/deliveries');
    assert.equal(status, 500);
    assert.doesNotMatch(text, /inside/);
    assert.match(broken.troubles.join(), /\/v1\/deliveries: TypeError: about the inside/);
    await broken.close();
  });

  it('what is no HTTP ends the connection, and nothing else', async () => {
    for (const bytes of [
      '\0\0\0\0',
      'GET / HTTP/9.9\r\n\r\n',
      `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
      'POST /v1/trees HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
    ])
      await new Promise<void>((resolve) => {
        const socket = connect(Number(web.host.split(':')[1]), '127.0.0.1', () => socket.end(bytes));
        socket
          .on('error', () => resolve())
          .on('close', () => resolve())
          .resume();
      });
    assert.equal((await web.ask('/healthz')).text, 'ok\n');
    assert.deepEqual(web.troubles, []);
  });
});

it('an idle connection is kept longer than proxies keep theirs, which would send a request into one that closes', async () => {
  const { headers } = await web.ask('/v1/trees', {});
  assert.equal(headers['keep-alive'], 'timeout=75');
});
