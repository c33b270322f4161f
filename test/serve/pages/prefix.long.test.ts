// Proves in a real browser that a proxy can serve the dashboard below a path of its own: pages at every depth, signing in, reading, writing, events and links.
import assert from 'node:assert/strict';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, type PageWatch } from './browser.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const PREFIX = '/tools/coppice';

describe('below a path of a proxy', { skip }, () => {
  let web: WebStage;
  let watch: PageWatch;
  let proxy: Server;
  let at = '';
  /** What was asked for outside of the path. */
  const astray: string[] = [];

  before(async () => {
    proxy = createServer((asked, answer) => {
      const { url = '', method, headers } = asked;
      if (!url.startsWith(`${PREFIX}/`)) {
        astray.push(url);
        answer.writeHead(404).end();
        return;
      }
      const { hostname, port } = new URL(web.url);
      const path = url.slice(PREFIX.length);
      const passed = request({ hostname, port, path, method, headers }, (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      });
      answer.on('close', () => passed.destroy());
      passed.on('error', () => answer.destroy());
      asked.pipe(passed);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => proxy.once('listening', resolve));
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    at = `http://${host}${PREFIX}`;
    web = await setWebStage(
      ({ user }) => `**${user}** is done`,
      {},
      { hosts: [host], rate: { take: () => 0 } },
    );
    watch = await openPage();
  });
  after(async () => {
    await watch?.browser.close();
    proxy?.close();
    proxy?.closeAllConnections();
    await web?.close();
  });

  it('a link signs in, a tree is written to, its pages and events come, and Back leads back', async () => {
    const { page, faults } = watch;
    const { json: link } = await web.ask('/v1/login-links', { method: 'POST', body: {} });
    await page.goto(`${at}/login${new URL(link.url).hash}`);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
    assert.equal(page.url(), `${at}/`);
    const root = await web.stage.start('a long story');
    await web.stage.runtime.settled(root.id);
    await page.getByRole('link', { name: 'a long story' }).click();
    await page.waitForURL(`${at}/trees/${root.id}`);
    // Its Markdown is read by a script that is loaded only now.
    await page.getByRole('article', { name: 'Answer' }).locator('strong').getByText('a long story').waitFor();
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.waitForURL(`${at}/trees/${root.id}?tab=messages`);
    await page.goto(`${at}/agents/${root.id}`);
    const streams = page.waitForResponse((one) => one.url().startsWith(`${at}/v1/events`) && one.ok());
    await page.reload();
    await streams;
    await page.getByRole('textbox', { name: /^Write to / }).fill('once more');
    await page.keyboard.press('Control+Enter');
    await page.getByText('once more is done').waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.waitForURL(`${at}/usage`);
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await page.goBack();
    await page.getByText('once more is done').waitFor();
    await page.goto(`${at}/phone?page=/approvals`);
    await page.getByText(`${at}/approvals`).waitFor();
    await page.goto(`${at}/nowhere/at/all`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    assert.deepEqual(astray, []);
    assert.deepEqual(
      faults.filter((fault) => !/404/.test(fault)),
      [],
    );
  });
});
