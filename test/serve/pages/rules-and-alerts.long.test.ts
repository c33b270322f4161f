// Proves in a real browser, against `coppice serve`, that a person sees the rules that they granted and takes one back, after which its calls ask again; and
// reads the alerts that fired.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { assertLooks, CHROMIUM } from './browser.ts';
import { openDashboard } from './dashboard.ts';

const RULES = [
  ...[0, 1].map((step) => ({
    when: { user: 'write', step },
    calls: [{ name: 'bash', input: { command: `echo ${step}` } }],
  })),
  { when: { user: 'write' }, say: 'Both are done.' },
  // No other rule matches: the tree fails.
];

it('a granted rule is taken back, and an alert says which tree failed', {
  skip: CHROMIUM === null ? 'chromium is not installed' : false,
}, async () => {
  const dashboard = await openDashboard(RULES, {
    agents: { defaults: { permissions: { ask: ['bash'] } } },
    alerts: [
      { when: 'tree-failed', to: ['stdout'] },
      { when: 'waits-for-person', after_minutes: 10, to: ['stdout'] },
    ],
  });
  const { page, home, link, faults } = dashboard;
  try {
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
    const start = (task: string) => home.run(['run', task, '--detach', '--model', 'scripted:rules.json']);
    assert.equal((await start('break')).code, 0);
    assert.equal((await start('write')).code, 0);
    await page.goto(new URL('/approvals', link).href);
    await page.getByRole('button', { name: 'Allow from now on…' }).click();
    await page.getByLabel('Rule, from narrow to wide').selectOption('bash:echo *');
    await page.getByLabel('For', { exact: true }).selectOption('this tree');
    await page.getByRole('button', { name: 'Grant it' }).click();
    await page.getByText('Allowed from now on (bash:echo *)').waitFor();
    await page.getByRole('link', { name: 'Granted rules' }).click();
    const row = page.getByRole('row').filter({ hasText: 'bash:echo *' });
    await row.getByRole('link', { name: /^every agent of the tree/ }).waitFor();
    await assertLooks(dashboard, 'rules');
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No rule that was granted holds.').waitFor();

    await until(
      async () => /"kind":\s*"alert"/.test((await home.run(['deliveries', 'list', '--json'])).stdout),
      'the alert is sent',
    );
    await page.goto(new URL('/deliveries', link).href);
    await page.getByRole('link', { name: 'alerts' }).click();
    const alert = page.getByRole('row').filter({ hasText: 'A tree failed' });
    await alert.waitFor();
    await page.getByRole('row').filter({ hasText: 'a call has waited 10 min for a person' }).waitFor();
    await page
      .getByText(/^Rules are changed under alerts .*config\.json; it reads them when it starts\.$/)
      .waitFor();
    await assertLooks(dashboard, 'alerts');
    await alert.getByRole('link').first().click();
    await page.getByRole('heading', { name: /^main/ }).waitFor();
    assert.deepEqual(faults, []);
  } finally {
    await dashboard.close();
  }
});
