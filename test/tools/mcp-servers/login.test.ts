/** Proves that a person logs in to a server by OAuth once, that agents use and renew the login, and that without a login they are told how to get one. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { Login, logIn } from '../../../src/tools/mcp-servers/login.ts';
import { McpServer } from '../../../src/tools/mcp-servers/mcp-server.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { startHttpServer } from '../../servers/mcp-http-server.ts';
import { OAuthServer } from '../../servers/oauth-server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

after(closeOpened);

async function place() {
  const oauth = new OAuthServer();
  const http = await startHttpServer({ oauth });
  closeLater(() => http.close());
  const folder = join(temporaryFolder(), 'logins');
  const open = (): McpServer => {
    const server = new McpServer(
      'web',
      { url: http.url },
      { cwd: '/', env: {}, sandbox: null, logins: folder },
    );
    closeLater(() => server.close());
    return server;
  };
  return { oauth, http, folder, open };
}

/** Acts as the browser, after an attacker has tried guessed states. */
async function browse(page: URL): Promise<void> {
  const way_back = new URL(page.searchParams.get('redirect_uri') ?? '');
  assert.equal(way_back.hostname, '127.0.0.1');
  const state = page.searchParams.get('state') ?? '';
  for (const guessed of ['guessed', `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`]) {
    const stranger = await fetch(`${way_back.href}?code=stolen&state=${guessed}`);
    assert.equal(stranger.status, 404);
  }
  assert.match(await (await fetch(page)).text(), /Done: you can close this page/);
}

it('a login is asked for once, used, and renewed', async () => {
  const { oauth, http, folder, open } = await place();
  await assert.rejects(open().tools(), /needs you to log in: coppice mcp login web/);
  await logIn(folder, http.url, (page) => void browse(page));
  const files = readdirSync(folder);
  assert.equal(files.length, 1);
  assert.equal(statSync(join(folder, files[0] ?? '')).mode & 0o777, 0o600);
  const server = open();
  assert.equal((await server.tools()).length, 2);
  oauth.valid.clear();
  assert.equal((await open().tools()).length, 2);
  assert.deepEqual(oauth.grants, ['authorization_code', 'refresh_token']);
  new Login(folder, http.url).forget();
  await assert.rejects(open().tools(), /needs you to log in/);
});

it('a header Authorization of the configuration, in any case, takes the place of the login', async () => {
  const { http, folder, open } = await place();
  await logIn(folder, http.url, (page) => void browse(page));
  assert.equal((await open().tools()).length, 2);
  for (const name of ['Authorization', 'authorization', 'AUTHORIZATION']) {
    const config = { url: http.url, headersEnv: { [name]: 'KEY' } };
    const env = { KEY: 'Bearer of another' };
    const server = new McpServer('web', config, { cwd: '/', env, sandbox: null, logins: folder });
    closeLater(() => server.close());
    await assert.rejects(
      server.tools(),
      ({ message }: Error) => !/log in/.test(message) && /401|Unauthorized/i.test(message),
    );
  }
});

it('a login that two renew at the same time is kept', async () => {
  const { oauth, http, folder, open } = await place();
  await logIn(folder, http.url, (page) => void browse(page));
  oauth.valid.clear();
  oauth.rotates = true;
  const both = Promise.withResolvers<boolean>();
  let asked = 0;
  oauth.beforeToken = () => {
    asked += 1;
    if (asked === 2) both.resolve(true);
    return both.promise;
  };
  const tools = await Promise.all([open().tools(), open().tools()]);
  assert.deepEqual(
    tools.map(({ length }) => length),
    [2, 2],
  );
  assert.equal(asked, 3, 'the slower one renews it with what the faster one got');
  assert.equal((await open().tools()).length, 2);
});

it('a login that cannot be renewed now is kept', async () => {
  const { oauth, http, folder, open } = await place();
  await logIn(folder, http.url, (page) => void browse(page));
  oauth.valid.clear();
  oauth.beforeToken = async () => false;
  await assert.rejects(open().tools(), /: did not renew your login: try again later$/);
  oauth.beforeToken = async () => true;
  assert.equal((await open().tools()).length, 2);
});

it('a login that nobody completes leaves nothing', async () => {
  const { http, folder } = await place();
  await assert.rejects(
    logIn(folder, http.url, () => undefined, AbortSignal.timeout(100)),
    /did not let you log in: the login was not completed in time/,
  );
  assert.equal(existsSync(folder), false);
});

it('a login that is being made, refused or given up leaves the one before valid', async () => {
  const { oauth, http, folder, open } = await place();
  await logIn(folder, http.url, (page) => void browse(page));
  const works = async () => assert.equal((await open().tools()).length, 2);
  const asked = Promise.withResolvers<void>();
  const given_up = new AbortController();
  const first = assert.rejects(
    logIn(folder, http.url, () => asked.resolve(), given_up.signal),
    /the login was given up/,
  );
  await asked.promise;
  await works();
  const told = Promise.withResolvers<string>();
  const refused = logIn(folder, http.url, async (page) => {
    const back = new URL(page.searchParams.get('redirect_uri') ?? '');
    const state = page.searchParams.get('state') ?? '';
    for (const [name, value] of Object.entries({
      state,
      error: 'access_denied',
      error_description: 'not you',
    }))
      back.searchParams.set(name, value);
    told.resolve(await (await fetch(back)).text());
  });
  await assert.rejects(refused, /did not let you log in: access_denied: not you$/);
  assert.match(await told.promise, /did not let you log in: access_denied: not you/);
  await works();
  // The newest that is completed counts, also for a server that has forgotten the one before.
  oauth.valid.clear();
  await logIn(folder, http.url, (page) => void browse(page));
  given_up.abort();
  await first;
  await works();
});
