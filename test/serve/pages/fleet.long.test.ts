// Proves in a real browser, against `coppice serve` with a scripted model, that the dashboard follows a tree of twelve agents while it works: events appear on
// the page without a reload, and a person's answers and kills there take effect in the tree.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { CHROMIUM } from './browser.ts';
import { openDashboard } from './dashboard.ts';

const READERS = ['atlas', 'birch', 'cedar', 'dogwood', 'elm', 'fir', 'gorse', 'hazel'];
const NAMES = [...READERS, 'writer', 'broken', 'sleeper'];
const RULES = [
  {
    when: { root: true, step: 0 },
    say: 'I fork eleven.',
    calls: NAMES.map((name) => ({ name: 'fork', input: { name, prompt: 'go' } })),
  },
  {
    when: { root: true, step: 1 },
    calls: [{ name: 'wait', input: { timeout: 600, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  { when: { root: true }, say: 'Nine of eleven are done.' },
  {
    when: { agent: 'writer', step: 0 },
    calls: [{ name: 'write', input: { path: 'notes.md', content: '# Notes\nsecond line\n' } }],
  },
  {
    when: { agent: 'writer', step: 1 },
    calls: [{ name: 'send', input: { to: 'broken', message: 'The notes are written.' } }],
  },
  { when: { agent: 'broken', step: 0 }, calls: [{ name: 'wait', input: { timeout: 600 } }] },
  // No other rule matches this agent: its next request fails.
  { when: { agent: 'sleeper' }, calls: [{ name: 'bash', input: { command: 'sleep 600' } }] },
  ...[...READERS, 'writer'].map((agent) => ({ when: { agent }, say: 'Read.' })),
];

it('a tree of twelve agents is started, answered, fails in part, is killed in part, and ends on one page', {
  skip: CHROMIUM === null ? 'chromium is not installed' : false,
}, async () => {
  const dashboard = await openDashboard(RULES, {
    agents: { defaults: { permissions: { allow: ['bash:sleep *'] } } },
  });
  const { page, home, faults } = dashboard;
  try {
    await page.goto(dashboard.link);
    await page.getByText('No trees yet').waitFor();
    await page.evaluate('window.loaded_once = true');
    // The key works only once the page knows that the session may write.
    await page.getByRole('button', { name: 'Start a tree' }).waitFor();
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel('Task').fill('read everything');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: /^read everything/ }).waitFor();
    await page.getByRole('tab', { name: 'Tree' }).click();
    const row = (name: string, status: string) =>
      page
        .getByRole('tabpanel')
        .getByRole('row', { name: new RegExp(`^${name}\\W+${status}`) })
        .waitFor();
    for (const name of READERS) await row(name, 'idle');
    await row('main', 'waiting');
    await row('writer', 'waiting');
    await row('broken', 'waiting');
    await row('sleeper', 'running');
    assert.equal(await page.locator('.lane-name').count(), 12);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('timeline: zoom in, out').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: '1 waits for approval' }).click();
    const asked = page.getByRole('article', { name: /^writer wants write/ });
    await asked.getByText('+second line').waitFor();
    assert.ok(!existsSync(join(home.work, 'notes.md')));
    await asked.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Nothing waits for an answer.').waitFor();
    await page.goBack();
    await row('writer', 'idle');
    assert.ok(existsSync(join(home.work, 'notes.md')));
    await row('broken', 'error');
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.locator('.letter text', { hasText: 'The notes are written.' }).waitFor();

    const timeline = page.getByRole('application', { name: /^Timeline/ });
    await timeline.press('Shift+ArrowRight');
    await timeline.press('Enter');
    await page.waitForURL(/\/agents\/[^/?#]+\?seq=\d+$/);
    await page.getByText('I fork eleven.').first().waitFor();
    await page.goBack();

    await page.locator('.lane-name').getByRole('button', { name: 'sleeper' }).click();
    await page
      .getByRole('complementary', { name: 'Selected' })
      .getByRole('link', { name: 'sleeper' })
      .click();
    await page.getByRole('button', { name: 'Kill…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
    await page.getByRole('heading', { name: /dead/ }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: /^read everything\W+done/ }).waitFor();
    await page.getByRole('tab', { name: 'Tree' }).click();
    await row('sleeper', 'dead');
    await row('main', 'idle');

    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.getByRole('img', { name: /^at most .+ at once$/ }).waitFor();
    await page.getByRole('heading', { name: 'Done 1' }).waitFor();
    await page.getByLabel('Search trees').fill('status:Failed');
    await page.getByText('Nothing matches.').waitFor();
    await page.getByLabel('Search trees').fill('status:Done');
    await page.getByRole('heading', { name: 'Done 1' }).waitFor();
    await page.getByLabel('Search trees').fill('');
    await page.locator('.trees .bad', { hasText: /^done, \d of 11 failed/ }).waitFor();
    await page.getByRole('navigation', { name: 'Outcome' }).getByRole('link', { name: 'Failed 0' }).click();
    await page.getByText('Nothing matches.').waitFor();
    assert.match(page.url(), /\?show=failed$/);
    await page.goBack();
    await page.getByRole('heading', { name: 'Done 1' }).waitFor();
    assert.equal(await page.evaluate('window.loaded_once'), true);
    assert.deepEqual(faults, []);
  } finally {
    await dashboard.close();
  }
});
