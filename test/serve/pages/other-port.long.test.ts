// Proves in a real browser that a server of somebody else, on another port of this machine, does nothing with what the browser sends it: the cookie of the
// dashboard. And that the dashboard needs no more of a person than before: a link once, then every tab and every address.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { ROUTES } from '../../../src/serve/api/all-routes.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, type PageWatch, signIn } from './browser.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;

describe('another port of this machine', { skip }, () => {
  let web: WebStage;
  let watch: PageWatch;
  let other: Server;
  let url = '';
  /** What the other server got, and what it sets. */
  const cookies: string[] = [];
  let tossed: string[] = [];

  before(async () => {
    web = await setWebStage(({ user }) => `${user} is done`, {}, { rate: { take: () => 0 } });
    watch = await openPage();
    other = createServer((request, response) => {
      cookies.push(request.headers.cookie ?? '');
      response.setHeader('set-cookie', tossed);
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    await signIn(watch.page, web);
  });
  after(async () => {
    await watch?.browser.close();
    other?.close();
    await web?.close();
  });
  const isSignedIn = () => watch.page.getByRole('heading', { name: 'Trees' }).waitFor();
  const isAsked = () => watch.page.getByText('This browser is not signed in').waitFor();

  it('gets the cookie, and no route takes it', async () => {
    await watch.page.goto(url);
    const cookie = cookies.find((one) => one !== '');
    assert.ok(cookie?.startsWith(`coppice_${new URL(web.url).port}=`), 'the browser sends it');
    for (const { method, path } of ROUTES) {
      const { status } = await web.ask(path.replaceAll(/:[a-z]+/g, 'abcd'), {
        method,
        token: null,
        headers: {
          cookie: cookie ?? '',
          origin: web.url,
          'sec-fetch-site': 'same-origin',
          'coppice-key': cookie ?? '',
        },
      });
      assert.equal(status, 401, `${method} ${path}`);
    }
  });

  it('its page neither has the key, nor can it ask with the cookie', async () => {
    const { page, faults } = watch;
    const found = await page.evaluate(async (target) => {
      const ask = (path: string, how: RequestInit) =>
        fetch(`${target}${path}`, { credentials: 'include', ...how }).then(
          ({ status, type }) => `${type} ${status}`,
          () => 'refused',
        );
      const shown = document.createElement('iframe');
      shown.src = `${target}/trees`;
      document.body.append(shown);
      await new Promise((resolve) => shown.addEventListener('load', resolve));
      return {
        stored: { ...localStorage },
        read: await ask('/v1/trees', {}),
        blind: await ask('/v1/trees', { mode: 'no-cors' }),
        write: await ask('/v1/trees', { method: 'POST', mode: 'no-cors', body: '{"prompt":"x"}' }),
        keyed: await ask('/v1/trees', { headers: { 'coppice-key': 'x' } }),
        login: await ask('/login', { method: 'POST', headers: { 'coppice-code': 'x' } }),
        frame: shown.contentDocument === null,
      };
    }, web.url);
    assert.deepEqual(found, {
      ...{ stored: {}, read: 'refused', blind: 'refused', write: 'refused', keyed: 'refused' },
      ...{ login: 'refused', frame: true },
    });
    assert.equal((await web.stage.store.agents({})).length, 0);
    // The browser reports each refusal.
    assert.ok(faults.splice(0).length > 0);
  });

  it('a person goes on: every address, every tab, and the stream of events', async () => {
    const { page, faults } = watch;
    const root = await web.stage.start('a long story');
    await web.stage.runtime.settled(root.id);
    const context = await watch.browser.newContext();
    await signIn(await context.newPage(), web);
    const tab = await context.newPage();
    const streams = tab.waitForResponse((one) => one.url().includes('/v1/events') && one.ok());
    await tab.goto(`${web.url}/agents/${root.id}`);
    await tab.getByText('a long story is done').first().waitFor();
    await streams;
    await web.stage.runtime.send(root.id, 'once more');
    await tab.getByText('once more is done').first().waitFor();
    await context.close();
    await page.goto(web.url);
    await isSignedIn();
    assert.equal(await page.evaluate(() => document.cookie), '', 'no script reads the cookie');
    assert.deepEqual(faults, []);
  });

  it('cookies of that name that it sets sign out once, and a link signs in again, although some of them stay', async () => {
    const { page, faults } = watch;
    const name = `coppice_${new URL(web.url).port}`;
    tossed = [
      `${name}=x; Path=/v1; HttpOnly; Max-Age=999999`,
      `${name}=y; Path=/v1/trees`,
      `${name}=z; Path=/`,
    ];
    await page.goto(url);
    tossed = [];
    await page.goto(web.url);
    await isAsked();
    await signIn(page, web);
    await page.goto(`${web.url}/trees`);
    await isSignedIn();
    const left = (await page.context().cookies()).filter((one) => one.name === name);
    assert.deepEqual(left.map(({ path }) => path).sort(), ['/', '/v1', '/v1/trees']);
    faults.splice(0);
  });

  it('a link that was used says so; a replaced token asks for a new one', async () => {
    const { page, faults } = watch;
    const { json } = await web.ask('/v1/login-links', { method: 'POST', body: {} });
    const fresh = await (await watch.browser.newContext()).newPage();
    await fresh.goto(json.url);
    await fresh.getByRole('heading', { name: 'Trees' }).waitFor();
    assert.equal(new URL(fresh.url()).hash, '', 'the code leaves the address');
    const late = await (await watch.browser.newContext()).newPage();
    await late.goto(json.url);
    await late.getByText('You were not signed in: this link was used already').waitFor();
    const typed = page.getByRole('searchbox', { name: 'Search trees' });
    await typed.fill('half a thought');
    web.access.rotate('write');
    // Without an event it looks again only now and then, and whenever it is looked at again.
    const looksAgain = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await looksAgain();
    // Signed in again beside it, the page goes on with what was typed.
    const way_in = page.getByRole('link', { name: 'Sign in in another tab' });
    const expired = page.getByRole('alert').filter({ has: way_in });
    await expired.waitFor();
    assert.equal(await page.getByText('signed in any more').count(), 1);
    const opened = page.waitForEvent('popup');
    await way_in.click();
    const beside = await opened;
    const { json: again } = await web.ask('/v1/login-links', { method: 'POST', body: {} });
    await beside.getByLabel('Link or code').fill(again.url);
    await beside.getByRole('button', { name: 'Sign in' }).click();
    await beside.getByRole('heading', { name: 'Trees' }).waitFor();
    await page.bringToFront();
    await looksAgain();
    await expired.waitFor({ state: 'hidden' });
    assert.equal(await typed.inputValue(), 'half a thought');
    await beside.close();
    web.access.rotate('write');
    await page.goto(`${web.url}/trees`);
    await isAsked();
    faults.splice(0);
  });
});
