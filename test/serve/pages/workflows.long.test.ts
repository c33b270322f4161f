// Proves in a real browser that a person runs a saved workflow after a look at it, and sees it live by phase, failures and questions first, wherever it is led;
// that what scripts say is shown as text; and that an exported run shows the same without a server.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { until } from '../../until.ts';
import { RULES } from '../../workflows/run-workflow.ts';
import { assertLooks, CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';
import { PAYLOADS } from './payloads.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const PAYLOAD = JSON.stringify(PAYLOADS.join(' '));
const SCRIPT = `export const meta = { name: 'review', description: ${PAYLOAD},
  phases: [{ title: 'Look', detail: ${PAYLOAD} }, { title: 'Judge' }, { title: 'Never' }] }
const seen = await parallel(Array.from({ length: 14 }, (_, n) => () =>
  agent(n === 5 ? 'boom' : 'say seen', { label: n === 0 ? ${PAYLOAD} : 'file-' + n, phase: 'Look' })))
phase('Judge')
await agent('say judged', { label: 'judge' })
const colour = await ask('Which colour?', { choices: ['red', 'blue'] })
return { seen: seen.filter(Boolean).length, colour, args }`;

describe('workflows in the dashboard', { skip }, () => {
  let dash: Dashboard;
  let base = '';

  before(async () => {
    dash = await openDashboard(RULES);
    const folder = join(dash.home.work, '.coppice', 'workflows');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'review.js'), SCRIPT);
    writeFileSync(join(folder, 'broken.js'), 'return 1');
    await dash.home.run(['trust', '--yes']);
    await dash.page.goto(dash.link);
    await dash.page.getByRole('heading', { name: 'Trees' }).waitFor();
    base = new URL(dash.page.url()).origin;
  });
  after(() => dash?.close());

  it('runs a saved one after a check, and shows its phases live', async () => {
    const { page, faults } = dash;
    await page.goto(`${base}/workflows`);
    await page.getByText('its first statement must be').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Run…' }).count(), 1, 'a broken one cannot be run');
    await page.getByRole('button', { name: 'Run…' }).click();
    await page.getByLabel('args').fill('{"n": 1');
    await page.getByRole('button', { name: 'Check…' }).click();
    await page.getByText('it is not JSON').waitFor();
    await page.getByLabel('args').fill('{"n": 1}');
    await page.getByRole('button', { name: 'Check…' }).click();
    await page.getByText('it starts 15 agents').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const head = page.locator('.run-head');
    await head.getByText('14/16 done').waitFor();
    await head.getByText('1 failed').waitFor();
    const lanes = page.locator('.lane-name.phase');
    assert.match(
      (await lanes.allInnerTexts()).join('\n'),
      /Look[\s\S]*✗ 1[\s\S]*13\/14[\s\S]*Judge[\s\S]*1\/2/,
    );
    // A large phase is folded until a person opens it.
    assert.equal(await page.locator('.lane-name', { hasText: 'file-5' }).count(), 0);
    await lanes.getByRole('button', { name: 'Look' }).click();
    await page.locator('.lanes').evaluate((box) => box.scrollTo(0, 500));
    await page.locator('.lane-name', { hasText: 'file-' }).first().waitFor();
    const failures = page.getByRole('region', { name: 'Failures' });
    assert.match(await failures.innerText(), /file-5[\s\S]*Look[\s\S]*no rule/);
    assert.equal(await page.evaluate('window.ran'), undefined);
    assert.deepEqual(faults, []);
  });

  it('its question is answered on the same page; then the result, the script and the status are there', async () => {
    const { page, faults } = dash;
    await page.locator('article select').selectOption('blue');
    await page.getByRole('button', { name: 'Answer' }).click();
    // The failure of the run repeats its result below.
    await page.getByText('"colour":"blue","args":{"n":1}').first().waitFor();
    await page
      .locator('.run-head')
      .locator('.status', { hasText: /^✗ failed$/ })
      .waitFor();
    await page.getByText('Script', { exact: true }).click();
    await page.locator('.script pre', { hasText: 'export const meta' }).waitFor();
    assert.deepEqual(faults, []);
    for (const path of [page.url(), `${base}/workflows`]) {
      await page.goto(path);
      await page.locator('main').getByText('review').first().waitFor();
      await assertLooks(dash, path === `${base}/workflows` ? 'workflows' : 'workflow-run');
    }
    await page.goBack();
    await page.getByRole('link', { name: 'file-5' }).first().click();
    await page.waitForURL(/\/agents\//);
  });

  it('one that another process leads is live, and is steered there', async () => {
    const { page, home, faults } = dash;
    writeFileSync(
      join(home.work, 'beside.js'),
      "export const meta = { name: 'beside', description: 'led elsewhere' }\nphase('One'); await agent('say x', { label: 'first' }); await agent('hang', { label: 'second' }); return 1",
    );
    const model = ['--model', 'scripted:rules.json'];
    const { child, ended } = home.start(['workflow', 'run', './beside.js', '--yes', ...model]);
    await page.goto(`${base}/workflows`);
    await page.getByRole('link', { name: 'beside' }).click();
    await page.locator('.run-head').getByText('1/2 done').waitFor();
    await page.getByRole('link', { name: 'second' }).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.run-head').getByText('Paused by').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'Message…' }).first().click();
    await page.getByLabel('Message', { exact: true }).fill('hurry');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Sent to 1 agent').waitFor();
    const listed = page.locator('.phase-agents').getByRole('link', { name: 'second' });
    const first = await listed.getAttribute('href');
    await page.getByRole('button', { name: 'Retry second' }).click();
    await page.getByText('Runs second again').waitFor();
    await until(async () => (await listed.getAttribute('href')) !== first, 'its successor');
    await page.getByRole('button', { name: 'Skip second' }).click();
    await page.getByRole('button', { name: 'Skip', exact: true }).last().click();
    await page.locator('.run-head').getByText('1 skipped').waitFor();
    await ended;
    assert.equal(child.exitCode, 0);
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByLabel('Name', { exact: true }).fill('kept');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as').waitFor();
    const ran = page.url();
    await page.getByRole('button', { name: 'Rerun' }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/trees/') && url.href !== ran);
    await page.getByRole('link', { name: 'Compare with the earlier run' }).click();
    const runs = page.getByRole('region', { name: 'The runs' });
    await runs.getByRole('row', { name: /^Agents/ }).waitFor();
    assert.match(page.url(), /\/compare\?a=[\w-]+&b=[\w-]+$/);
    assert.deepEqual(faults, []);
  });

  it('an exported run shows its phases, failures and script without a server', async () => {
    const { page, home } = dash;
    const file = join(home.folder, 'run.html');
    const { code, stderr } = await home.run(['export', 'review', '--html', '--out', file]);
    assert.equal(code, 0, stderr);
    await page.goto(pathToFileURL(file).href);
    await page.locator('.run-head').getByText('15/16 done').waitFor();
    await page.locator('.lane-name.phase', { hasText: 'Look' }).waitFor();
    await page.getByRole('tab', { name: 'Workflow' }).click();
    await page.getByText('Failures 1').waitFor();
    assert.match(
      await page.locator('main').innerText(),
      /Failures 1[\s\S]*file-5[\s\S]*Look[\s\S]*13\/14 done/,
    );
    await page.getByText('Script', { exact: true }).click();
    await page.locator('.script pre', { hasText: 'export const meta' }).waitFor();
    assert.equal(await page.evaluate('window.ran'), undefined);
  });
});
