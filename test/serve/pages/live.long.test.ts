// Proves in a real browser, against `coppice serve` with a scripted model, what a person does in the dashboard: sign in by a link, start a tree, allow a call,
// write to an agent, kill it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { CHROMIUM } from './browser.ts';
import { openDashboard } from './dashboard.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const RULES = [
  {
    when: { root: true, step: 0 },
    calls: [{ name: 'bash', input: { command: 'touch allowed && echo made' } }],
  },
  { when: { root: true, step: 1 }, calls: [{ name: 'fork', input: { name: 'kid', prompt: 'sleep' } }] },
  { when: { agent: 'kid' }, calls: [{ name: 'bash', input: { command: 'sleep 600' } }] },
  { when: { user: 'hello' }, say: 'You wrote: {{user}}' },
  { say: 'Ready.' },
];

it('a person signs in, starts a tree, allows a call, writes to an agent, and kills it', {
  skip,
}, async () => {
  const dashboard = await openDashboard(RULES);
  const { page, home, link, faults } = dashboard;
  try {
    await page.goto(new URL(link).origin);
    await page.getByText('This browser is not signed in').waitFor();
    // The browser reports the refused requests of a page without a session; all reports have arrived once it has left the page.
    await page.goto('about:blank');
    faults.splice(0);
    await page.goto(link);
    await page.getByText('No trees yet').waitFor();

    // The key works only once the page knows that the session may write.
    await page.getByRole('button', { name: 'Start a tree' }).waitFor();
    await page.keyboard.press('n');
    const start = page.getByRole('dialog', { name: 'Start a tree' });
    await start.locator('datalist option[value=explore]').waitFor({ state: 'attached' });
    // What is missing, or no number, is said at the field, and nothing is sent.
    for (const [task, dollars] of [
      ['  ', ''],
      ['make a file', 'five'],
      ['make a file', '5,50'],
    ] as const) {
      await start.getByLabel('Task').fill(task);
      await start.getByLabel('Budget').fill(dollars);
      await start.getByLabel('Task').press('Control+Enter');
      assert.equal(await start.locator(':invalid:is(input, textarea)').count(), 1, `${task} ${dollars}`);
    }
    await start.getByLabel('Budget').fill('2.50');
    await start.getByLabel('Task').press('Control+Enter');
    await page.getByRole('heading', { name: /^make a file/ }).waitFor();
    const address = page.url().replace('/trees/', '/agents/');

    await page.getByRole('link', { name: /^Approvals 1$/ }).click();
    await page.getByText('touch allowed && echo made').first().waitFor();
    assert.ok(!existsSync(join(home.work, 'allowed')));
    // Letter keys work only while the row has the focus.
    await page.keyboard.press('y');
    await page.keyboard.press('j');
    await page.keyboard.press('y');
    await page.getByText('Allowed bash of main').waitFor();
    await until(() => existsSync(join(home.work, 'allowed')), 'the call ran');

    const kids = page.getByRole('article', { name: /^kid wants bash/ });
    await kids.getByRole('button', { name: 'Deny…' }).click();
    await kids.getByLabel('Why, for the model').fill('not now');
    await kids.getByRole('button', { name: 'Deny' }).click();

    await page.goto(address);
    await page.getByText('Ready.').first().waitFor();
    const call = page.getByRole('button', { name: /bash.*touch allowed/ });
    await call.click();
    await page.getByText('made', { exact: true }).waitFor();
    await page.keyboard.press('m');
    await page.keyboard.type('hello from the page');
    await page.keyboard.press('Control+Enter');
    await page.getByText('You wrote: hello from the page').waitFor();

    await page.getByRole('button', { name: 'Kill…' }).click();
    const kill = page.getByRole('dialog', { name: 'Kill main?' });
    await kill.getByText('1 descendant is killed, too: kid').waitFor();
    await kill.getByRole('button', { name: 'Kill 2 agents' }).click();
    await page.getByRole('heading', { name: /dead/ }).waitFor();
    assert.equal(await page.getByLabel('Write to main').count(), 0);
    assert.deepEqual(faults, []);
  } finally {
    await dashboard.close();
  }
});
