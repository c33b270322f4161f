// Proves in a real browser, against `coppice serve`, what a person does with a whole tree: takes it away as a file that opens without a server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const RULES = [{ say: 'The answer is **forty-two**.' }];

describe('a whole tree', { skip }, () => {
  let dashboard: Dashboard;
  let tree = '';

  before(async () => {
    dashboard = await openDashboard(RULES);
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
});
