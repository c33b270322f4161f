// Proves in a real browser what the pages make of slow, refused and partial answers of the server, and that they offer only what it can do.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, type PageWatch, signIn } from './browser.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const ANSWER_MS = 300;

describe('pages of a server that answers oddly', { skip }, () => {
  let web: WebStage;
  let watch: PageWatch;

  before(async () => {
    web = await setWebStage(({ user }) => {
      if (user === 'break') throw new Error('no answer');
      return `${user} is done`;
    });
    watch = await openPage();
    await signIn(watch.page, web);
  });
  after(async () => {
    await watch?.browser.close();
    await web?.close();
  });

  /** Slows the answers to requests that change something; returns the number of these requests. */
  async function slowPosts(path: string): Promise<() => number> {
    let posts = 0;
    await watch.page.route(path, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      posts += 1;
      await sleep(ANSWER_MS);
      return route.continue();
    });
    return () => posts;
  }

  it('Ctrl+Enter twice starts one tree, and r twice one run', async () => {
    const { page } = watch;
    const trees = await slowPosts('**/v1/trees');
    await page.getByRole('button', { name: 'Start a tree' }).waitFor();
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel('Task').fill('only once');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: /^only once/ }).waitFor();
    assert.equal(trees(), 1);

    const job = { name: 'later', task: 'much later', every: '1h' };
    const added = await web.ask('/v1/jobs', { method: 'POST', body: job });
    const runs = await slowPosts('**/v1/jobs/*/run');
    await page.goto(new URL(`/schedules/${added.json.id}`, web.url).href);
    await page.getByRole('button', { name: 'Run now' }).waitFor();
    await page.keyboard.press('r');
    await page.keyboard.press('r');
    await page.getByText('runs now').waitFor();
    await sleep(ANSWER_MS);
    assert.equal(runs(), 1);
  });

  it('an event stream that is refused is opened again', async () => {
    const { page, faults } = watch;
    let opened = 0;
    await page.route('**/v1/events?*', (route) => {
      opened += 1;
      return opened === 1 ? route.fulfill({ status: 503, body: 'busy' }) : route.continue();
    });
    await page.goto(new URL('/trees', web.url).href);
    await page.waitForResponse((one) => one.url().includes('/v1/events?') && one.ok());
    assert.equal(opened, 2);
    assert.match(faults.splice(0).join('\n'), /^console: .*503.*$/);
  });

  it('letters of later pages can be reached if the first page has none to show', async () => {
    const { page } = watch;
    const root = await web.stage.start('write');
    await web.stage.runtime.settled(root.id);
    const later = new URL(`/v1/trees/${root.id}/mail?limit=200`, web.url).href;
    await page.route('**/v1/trees/*/mail?*', async (route) => {
      if (route.request().url().includes('after=')) return route.continue({ url: later });
      const response = await route.fetch();
      return route.fulfill({ response, json: { ...(await response.json()), mail: [], next: 'later' } });
    });
    await web.stage.runtime.send(root.id, 'a letter');
    await page.goto(new URL(`/trees/${root.id}`, web.url).href);
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.getByRole('button', { name: 'More letters' }).click();
    await page.locator('.life-lines a', { hasText: 'a letter' }).waitFor();
  });

  it('status: finds a tree by the words of its group, as people read them', async () => {
    const { page } = watch;
    const broken = await web.stage.start('break');
    await web.stage.runtime.settled(broken.id);
    const whole = await web.stage.start('all is well');
    await web.stage.runtime.settled(whole.id);
    await page.goto(new URL('/trees', web.url).href);
    const row = (id: string) => page.locator(`tr a[data-row][href="/trees/${id}"]`);
    await row(broken.id).waitFor();
    await row(whole.id).waitFor();
    for (const [search, found] of [
      ['status:failed', broken],
      ['status:Done', whole],
    ] as const) {
      await page.getByRole('searchbox').fill(search);
      await row((found === broken ? whole : broken).id).waitFor({ state: 'detached' });
      assert.equal(await row(found.id).count(), 1, search);
    }
    await page.getByRole('searchbox').fill('');
  });

  it('only workers can be drained', async () => {
    const { page, faults } = watch;
    for (const role of ['worker', 'serve'] as const)
      await web.stage.store.heartbeat({ id: randomUUID(), host: `a-${role}`, pid: 7, role });
    await page.goto(new URL('/workers', web.url).href);
    const row = (role: string) => page.getByRole('row', { name: new RegExp(`a-${role}`) });
    await row('serve').waitFor();
    assert.equal(await row('worker').getByRole('button', { name: 'Drain…' }).count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Drain…' }).count(), 1);
    assert.deepEqual(faults, []);
  });

  it('older runs of workflows that do not come are told of, and no more are offered after the last page', async () => {
    const { page, faults } = watch;
    const run = (n: number) => ({
      ...{ id: randomUUID(), name: `run-${n}`, description: '', outcome: 'done', outcome_text: 'done' },
      ...{ started_at: new Date(1e12 - n).toISOString(), ended_at: new Date(1e12).toISOString() },
      counts: { asked: 1, done: 1, failed: 0, skipped: 0, running: 0, waiting: 0 },
    });
    const first = Array.from({ length: 100 }, (_, n) => run(n));
    let asked = 0;
    await page.route('**/v1/workflow-runs?*', (route) => {
      if (!route.request().url().includes('before=')) return route.fulfill({ json: { runs: first } });
      asked += 1;
      return asked === 1
        ? route.fulfill({ status: 503, body: 'busy' })
        : route.fulfill({ json: { runs: [run(100)] } });
    });
    await page.goto(new URL('/workflows', web.url).href);
    const more = page.getByRole('button', { name: 'Show older runs' });
    await more.click();
    await page
      .getByRole('alert')
      .filter({ hasText: /503|busy/ })
      .waitFor();
    await more.click();
    await page.getByRole('link', { name: 'run-100' }).waitFor();
    await more.waitFor({ state: 'detached' });
    assert.match(faults.splice(0).join('\n'), /^console: .*503.*$/);
  });
});
