// Proves in a real browser of the size of a phone that a person signs in with a code, finds the first action on every empty page, answers a long approval with the
// thumb, and sees what the last runs of a schedule came to.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CHROMIUM } from './browser.ts';
import { openDashboard } from './dashboard.ts';

const CONTENT = Array.from({ length: 80 }, (_, line) => `line ${line}`).join('\n');
const RULES = [
  {
    when: { user: 'write', step: 0 },
    calls: [{ name: 'write', input: { path: 'long.md', content: CONTENT } }],
  },
  { say: 'Ready.' },
];

it('a person signs in on a phone, begins, answers, and follows a schedule', {
  skip: CHROMIUM === null ? 'chromium is not installed' : false,
}, async () => {
  const dashboard = await openDashboard(RULES);
  const { page, home, link, faults } = dashboard;
  const fits = async () => {
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0);
    assert.deepEqual(await dashboard.violations(), []);
  };
  try {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(new URL(link).origin);
    const field = page.getByLabel('Link or code');
    await field.fill('no such code');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('You were not signed in').waitFor();
    await fits();
    await field.fill(link);
    await field.press('Enter');
    await page.getByRole('button', { name: 'Start the first one' }).waitFor();
    // What the browser told of the refusals.
    faults.splice(0);
    await fits();

    await page.goto(new URL('/schedules', link).href);
    await page.getByRole('button', { name: 'Add the first one' }).click();
    const form = page.getByRole('dialog', { name: 'Add a schedule' });
    await form.getByLabel('Name').fill('nightly');
    await form.getByLabel('Task').fill('say it');
    await form.getByLabel('When').fill('0 7 * * *');
    await form.getByRole('button', { name: 'Add' }).click();
    const row = page.locator('main tbody tr', { hasText: 'nightly' });
    await row.getByText('not yet fired').waitFor();
    await row.getByText(/\(in \d+/).waitFor();
    const run = await home.run(['cron', 'run', 'nightly']);
    assert.equal(run.code, 0, run.stderr);
    await row.getByRole('link', { name: /^(done|completed), / }).waitFor();
    await fits();
    await row.getByRole('link', { name: /^(done|completed), / }).click();
    await page.getByText('Ready.').first().waitFor();

    await page.goto(new URL('/phone?page=/schedules', link).href);
    await page.getByRole('img', { name: `Code for ${new URL('/schedules', link).href}` }).waitFor();
    await page.getByText('Only this machine reaches that address.').waitFor();
    await fits();

    await page.goto(new URL('/approvals', link).href);
    await page.getByRole('link', { name: 'What runs now' }).waitFor();
    await home.run(['run', 'write', '--detach', '--model', 'scripted:rules.json']);
    const card = page.getByRole('article', { name: /wants write/ });
    const allow = card.getByRole('button', { name: 'Allow once' });
    await allow.waitFor();
    const height = (await card.boundingBox())?.height ?? 0;
    const box = await allow.boundingBox();
    assert.ok(height > 844, `the call is longer than the screen: ${height}`);
    assert.ok(box !== null && box.y + box.height <= 844, 'the answer is within reach nevertheless');
    assert.ok(box.height >= 44 && box.width > 300, 'and large enough for a thumb');
    await fits();
    await allow.click();
    await page.getByText('Nothing waits for an answer.').waitFor();
    assert.deepEqual(faults, []);
  } finally {
    await dashboard.close();
  }
});
