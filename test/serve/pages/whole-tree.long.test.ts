// Proves in a real browser, against `coppice serve`, what a person does with a whole tree: takes it away as a file that opens without a server, and
// reads what its agents changed in files, and who wrote which line, and compares it with another run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { assertLooks, CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const LONG = Array.from({ length: 90 }, (_, at) => `line ${at} <b>`).join('\n');
const RULES = [
  {
    when: { user: 'change', root: true, step: 0 },
    calls: [
      { name: 'write', input: { path: 'notes.md', content: 'one\ntwo\nthree \u202e\n' } },
      { name: 'write', input: { path: 'src/long.txt', content: LONG } },
      { name: 'fork', input: { name: 'fixer', prompt: 'make two a four' } },
    ],
  },
  { when: { user: 'change', root: true, step: 1 }, calls: [{ name: 'wait', input: { timeout: 60 } }] },
  {
    when: { agent: 'fixer', step: 0 },
    calls: [{ name: 'patch', input: { path: 'notes.md', edits: [{ old_text: 'two', new_text: 'four' }] } }],
  },
  { say: 'The answer is **forty-two**.' },
];
const PERMISSIONS = { allow: ['write', 'patch'] };

describe('a whole tree', { skip }, () => {
  let dashboard: Dashboard;
  let tree = '';

  before(async () => {
    dashboard = await openDashboard(RULES, { agents: { defaults: { permissions: PERMISSIONS } } });
    const { home, page, link } = dashboard;
    const { stdout } = await home.run([
      'run',
      'count the modules',
      '--model',
      'scripted:rules.json',
      '--json',
    ]);
    tree = JSON.parse(stdout).id;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
  });
  after(() => dashboard?.close());

  it('is saved from its page as one that opens without a server, and as JSON', async () => {
    const { page, home, link, faults } = dashboard;
    await page.goto(new URL(`/trees/${tree}`, link).href);
    await page.getByRole('button', { name: 'Export…' }).waitFor();
    for (const [key, choice, end] of [
      ['e', 'HTML, a page that opens without a server', 'html'],
      ['e', 'JSON, for programs', 'json'],
    ] as const) {
      await page.keyboard.press(key);
      const dialog = page.getByRole('dialog', { name: 'Export the tree' });
      await dialog.getByLabel('As').selectOption(choice);
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Save the file' }).click(),
      ]);
      assert.equal(saved.suggestedFilename(), `coppice-${tree.slice(0, 8)}.${end}`);
      await saved.saveAs(join(home.work, `saved.${end}`));
      await dialog.waitFor({ state: 'hidden' });
    }
    const { documents } = JSON.parse(readFileSync(join(home.work, 'saved.json'), 'utf8'));
    assert.equal(documents[`/v1/trees/${tree}`].title, 'count the modules');
    const offline = await dashboard.browser.newContext({ offline: true });
    const copy = await offline.newPage();
    await copy.goto(`${pathToFileURL(join(home.work, 'saved.html'))}#/trees/${tree}`);
    await copy.getByRole('article', { name: 'Answer' }).getByText('forty-two').waitFor();
    assert.equal(await copy.getByRole('button', { name: 'Export…' }).count(), 0);
    await offline.close();
    assert.deepEqual(faults, []);
  });

  it('tells what its agents changed, by file and by agent, with who wrote which lines', async () => {
    const { page, home, link, faults } = dashboard;
    const run = await home.run(['run', 'change', '--model', 'scripted:rules.json', '--json']);
    assert.equal(run.code, 0, run.stderr);
    const { id } = JSON.parse(run.stdout);
    await page.goto(new URL(`/trees/${id}?tab=files`, link).href);
    const notes = page.getByRole('article', { name: 'notes.md' });
    await notes.getByText('+3').waitFor();
    const rows = () =>
      notes.locator('.blamed > div').evaluateAll((all) => all.map((row) => row.textContent ?? ''));
    assert.deepEqual(
      (await rows()).map((row) => row.replace(/#\d+$/, '')),
      ['@@ -0,0 +1,3 @@', '1+onemain ', '2+fourfixer ', '3+three \\u{202e}main '],
    );
    const long = page.getByRole('article', { name: 'src/long.txt' });
    await long.getByRole('button', { name: '52 more lines' }).click();
    await long.getByText('line 89 <b>').waitFor();
    await page.getByRole('button', { name: 'fixer 1' }).click();
    await notes.getByText('make two a four').waitFor();
    assert.deepEqual((await rows()).slice(1), ['1 one', '-two', '2+four', '3 three \\u{202e}']);
    assert.equal(await long.count(), 0);
    await assertLooks(dashboard, 'files');
    await notes.getByRole('link', { name: /^fixer · patch/ }).click();
    await page.getByRole('heading', { name: /^fixer/ }).waitFor();
    assert.match(page.url(), /\/agents\/[\w-]+\?seq=\d+$/);
    assert.deepEqual(faults, []);
  });

  it('is compared with another run: chosen in the list, by agent, with the first difference', async () => {
    const { page, home, link, faults } = dashboard;
    await home.run(['run', 'change more', '--model', 'scripted:rules.json', '--json', '--cwd', home.work]);
    await page.goto(new URL('/trees', link).href);
    // The newest is above.
    await page.getByRole('checkbox', { name: 'Compare change more' }).check();
    await page.getByText('Choose another run to compare it with.').waitFor();
    await page.getByRole('link', { name: 'change', exact: true }).focus();
    await page.keyboard.press('c');
    await page.getByRole('link', { name: 'Compare the two' }).click();
    const runs = page.getByRole('region', { name: 'The runs' });
    await runs.getByRole('link', { name: 'change more' }).waitFor();
    const first = page.getByRole('article', { name: 'First difference' });
    await first.getByText('of main').waitFor();
    await first.getByText('-change more').waitFor();
    const agents = page.getByRole('region', { name: 'Agents' });
    await agents.getByRole('link', { name: 'main/fixer' }).click();
    await page.getByRole('article', { name: 'First run, main/fixer' }).getByText('forty-two').waitFor();
    const second = page.getByRole('article', { name: 'Second run, main/fixer' });
    await second.getByText('Calls: patch').waitFor();
    await second.getByRole('article', { name: 'notes.md' }).getByText('+four').waitFor();
    await assertLooks(dashboard, 'compare');
    assert.deepEqual(faults, []);
  });
});
