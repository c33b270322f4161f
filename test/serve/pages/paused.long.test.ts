// Proves in a real browser that the dashboard says what a tree waits for whose provider takes no requests, and until when: in the list, above the timeline, and of an agent; and that a
// person has it tried again at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { limitedServer, REFUSALS } from '../../runtime/quota/limited-server.ts';
import { CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const WAITS = /waiting for one's quota until \d\d:\d\d/;

describe('the dashboard of a tree that waits for its provider', { skip: CHROMIUM === null }, () => {
  let open: Dashboard;
  let server: Awaited<ReturnType<typeof limitedServer>>;
  before(async () => {
    server = await limitedServer();
    server.refuse('key-one', REFUSALS.hour, 1);
    const provider = { type: 'openai-compatible', baseURL: `${server.url}/v1` };
    const headers = { authorization: 'Bearer key-one' };
    open = await openDashboard([], { providers: { one: { ...provider, headers } } });
    closeLater(() => open.close());
    const { code, stderr } = await open.home.run(['run', '--detach', '--model', 'one/any', 'FORK 2']);
    assert.equal(code, 0, stderr);
    await open.page.goto(open.link);
  });
  after(closeOpened);

  it('says so in the list, above the timeline, in the timeline and of an agent', async () => {
    const { page } = open;
    await page.getByRole('row', { name: WAITS }).waitFor();
    await page.getByRole('link', { name: 'FORK 2' }).click();
    await page.locator('.tree-head', { hasText: WAITS }).waitFor();
    await page.getByText("of this run waited for one's quota.").waitFor();
    await page.goto(page.url().replace('/trees/', '/agents/'));
    await page.locator('.facts', { hasText: WAITS }).first().waitFor();
    assert.deepEqual(open.faults, []);
  });

  it('is tried before that when a person says so', async () => {
    const { page } = open;
    await page.goto(page.url().replace('/agents/', '/trees/'));
    server.allow('key-one');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.locator('.tree-head', { hasText: WAITS }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Retry' }).waitFor({ state: 'detached' });
    assert.deepEqual(open.faults, []);
  });
});
