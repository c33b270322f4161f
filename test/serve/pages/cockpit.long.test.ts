// Proves in a real browser that the cockpit follows sixty working agents calmly: rows keep their places, nothing is read again, the chosen agent's words arrive
// while its model writes them, and every row is reached by keys.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { assertLooks, CHROMIUM } from './browser.ts';
import { openDashboard } from './dashboard.ts';

const WORDS = ['atlas', 'birch', 'cedar', 'dogwood', 'elm', 'fir'];
const NAMES = Array.from({ length: 60 }, (_, number) => `${WORDS[number % 6]}-${number}`);
const STORY = 'The keeper of the coppice counts the rings of every stump, and writes each number down. ';
const RULES = [
  {
    when: { root: true, step: 0 },
    calls: NAMES.map((name) => ({ name: 'fork', input: { name, prompt: 'go' } })),
  },
  {
    when: { root: true, step: 1 },
    calls: [{ name: 'wait', input: { timeout: 600, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  { when: { agent: 'birch-1', user: 'tell' }, say: STORY.repeat(12), chunk_ms: 60 },
  { when: { agent: 'birch-1' }, say: 'Ready.' },
  ...Array.from({ length: 40 }, (_, step) => ({
    when: { step },
    delay_ms: 700,
    say: `Step ${step}.`,
    calls: [{ name: 'bash', input: { command: 'sleep 0.5; echo done' } }],
  })),
];

it('a person follows sixty agents in the cockpit, chooses one by keys, and reads what it writes', {
  skip: CHROMIUM === null ? 'chromium is not installed' : false,
}, async () => {
  const dashboard = await openDashboard(RULES, {
    agents: { defaults: { permissions: { allow: ['bash:*'] }, limits: { children: 64, live: 80 } } },
  });
  const { page, home, link, faults } = dashboard;
  try {
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
    await home.run(['run', 'follow', '--detach', '--model', 'scripted:rules.json', '--json']);
    await page.getByRole('link', { name: 'follow' }).click();
    await page.getByRole('heading', { name: /^follow/ }).waitFor();
    await page.getByRole('link', { name: 'Cockpit' }).waitFor();
    const reads: string[] = [];
    page.on('request', (request) => reads.push(new URL(request.url()).pathname));
    await page.keyboard.press('l');
    await page.getByRole('heading', { name: '61 agents' }).waitFor();
    const rows = page.getByRole('list', { name: /^Agents/ }).getByRole('button');
    assert.equal(await rows.first().locator('.cells i').count(), 10);
    const names = () => page.locator('.live-rows .name').allInnerTexts();
    const order = (await names()).map((text) => text.replace(/^\W+/, ''));
    assert.deepEqual(order.slice(0, 3), ['main', 'atlas-0', 'birch-1']);

    await page.getByText(/^\d\d running$/).waitFor();
    await page.getByRole('log').locator('.tail-line').first().waitFor();
    await page.evaluate(() => {
      const moved = { sum: 0 };
      Object.assign(window, { moved });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) moved.sum += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift' });
    });
    await page.locator('.live-rows').evaluate((list) => list.scrollTo(0, 300));
    reads.splice(0);
    const counted = await page.locator('.live-rows .number').allInnerTexts();
    await until(
      async () => (await page.locator('.live-rows .number').allInnerTexts()).join() !== counted.join(),
      'the rows follow what the agents use',
    );
    await page.locator('.live-rows .cells i[style*="0.56"]').nth(20).waitFor({ state: 'attached' });
    assert.deepEqual(
      (await names()).map((text) => text.replace(/^\W+/, '')),
      order,
    );
    assert.equal(await page.locator('.live-rows').evaluate((list) => list.scrollTop), 300);
    assert.deepEqual(
      reads.filter((path) => path.includes('/trees') || path.includes('/agents')),
      [],
      'neither the tree nor an agent is read again',
    );
    assert.ok(Number(await page.evaluate('moved.sum')) < 0.01, 'nothing on the page moves');

    await rows.first().focus();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const tail = page.getByRole('region', { name: 'What birch-1 does' });
    await tail.getByText('Ready.').waitFor();
    assert.match(page.url(), /\/live\?agent=/);
    assert.ok(!reads.some((path) => /^\/v1\/trees\/[^/]+$/.test(path)), 'choosing reads that agent only');
    await tail.getByLabel('Write to birch-1').fill('tell');
    await page.keyboard.press('Control+Enter');
    await tail.locator('.lives', { hasText: 'The keeper of the coppice' }).waitFor();
    await tail.locator('.tail-line:not(.lives)', { hasText: 'The keeper of the coppice' }).waitFor();
    const left = await tail
      .getByRole('log')
      .evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    assert.ok(left < 3, 'the tail stays at its end');

    await page.reload();
    await tail.getByText('The keeper of the coppice').first().waitFor();
    await assertLooks(dashboard, 'cockpit');
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: /^follow/ }).waitFor();
    await page.goBack();
    await tail.waitFor();
    assert.deepEqual(faults, []);
  } finally {
    await dashboard.close();
  }
});
