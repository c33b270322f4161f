// Proves in a real browser, against `coppice serve`, that a person takes a tree back from the page: from a message and from the timeline, after reading what the
// new tree has, with another text and another model; and sees what led to an answer, as arrows and as a list.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runGit } from '../../runtime/worktree/git-repository.ts';
import { until } from '../../until.ts';
import { assertLooks, CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const RULES = [
  {
    when: { root: true, user: 'red', step: 0 },
    say: 'I ask a helper, and write it down.',
    calls: [
      { name: 'fork', input: { name: 'painter', prompt: 'say which red' } },
      { name: 'write', input: { path: 'colour.txt', content: 'red\n' } },
    ],
  },
  {
    when: { root: true, user: 'red', step: 1 },
    calls: [{ name: 'wait', input: { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  { when: { agent: 'painter' }, say: 'Crimson it is.' },
  { when: { user: 'green' }, say: 'It is green.' },
  { say: 'It is crimson.' },
];

describe('the past of a tree', { skip }, () => {
  let dashboard: Dashboard;
  let tree = '';
  const at = (path: string) => new URL(path, dashboard.link).href;

  before(async () => {
    dashboard = await openDashboard(RULES, {
      agents: { defaults: { permissions: { allow: ['write'] } } },
      // What a server is configured with, it may be asked for.
      model: 'scripted:again.json',
      merge: { test: 'test -e colour.txt' },
    });
    const { home, page, link } = dashboard;
    writeFileSync(join(home.work, 'again.json'), JSON.stringify({ rules: [{ say: 'Again.' }] }));
    await runGit(home.work, 'init', '--quiet', '--initial-branch=main');
    await runGit(home.work, 'add', '.');
    await runGit(home.work, 'commit', '--quiet', '--message', 'first', '--date', '2026-01-01T00:00:00Z');
    const run = await home.run(['run', 'paint it red', '--model', 'scripted:rules.json', '--json']);
    assert.equal(run.code, 0, run.stderr);
    tree = JSON.parse(run.stdout).id;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
  });
  after(() => dashboard?.close());

  it('a message is edited by keys: the new tree has the other text, the old one stays', async () => {
    const { page, faults } = dashboard;
    await page.goto(at(`/agents/${tree}?seq=1`));
    await page.getByRole('article', { name: 'Message 1, you' }).focus();
    await page.keyboard.press('b');
    const dialog = page.getByRole('dialog', { name: 'Go back to message 1 of main' });
    await dialog.getByText(/^main: requesting, 1 message, without/).waitFor();
    await dialog.getByText('not in it, because they were created later: painter').waitFor();
    await assertLooks(dashboard, 'go-back');
    await dialog.getByLabel('The new tree is as this one was').selectOption('With another text in its place');
    await dialog.getByLabel('Text').fill('paint it green');
    await dialog.getByText('message 1 of main is another one').waitFor();
    await page.keyboard.press('Control+Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: /^paint it green/ }).waitFor();
    await page.getByText('It rests until it is resumed').waitFor();
    await page.locator('h1').getByText('rests').waitFor();
    const cut = page.getByRole('link', { name: 'paint it red' });
    await assertLooks(dashboard, 'cut-tree');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('article', { name: 'Answer' }).getByText('It is green.').waitFor();
    await page.getByRole('link', { name: 'Compare the two' }).click();
    await page.getByRole('article', { name: 'First difference' }).getByText('of main').waitFor();
    await page.goBack();
    await cut.click();
    await page.getByRole('article', { name: 'Answer' }).getByText('It is crimson.').waitFor();
    const cuts = page.getByRole('list', { name: 'Trees that were made from this one' });
    await cuts.getByRole('link', { name: 'paint it green' }).waitFor();
    await assertLooks(dashboard, 'old-tree');
    await cuts.getByRole('link', { name: 'paint it green' }).click();
    await page.getByRole('heading', { name: /^paint it green/ }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('an unknown model is refused where it is named, and a double click makes one tree', async () => {
    const { page, faults } = dashboard;
    await page.goto(at(`/trees/${tree}`));
    await page.getByRole('button', { name: 'Again…' }).waitFor();
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog', { name: 'Go back to message 1 of main' });
    await dialog.getByText(/^main: requesting, 1 message, without/).waitFor();
    const known = dialog.locator('datalist option');
    await known.and(page.locator('[value="scripted:again.json"]')).waitFor({ state: 'attached' });
    await dialog.getByLabel('Model').fill('nobody/nothing');
    await dialog.getByRole('checkbox', { name: 'It goes on at once' }).check();
    const make = dialog.getByRole('button', { name: 'Make the new tree' });
    await make.click();
    await dialog.getByRole('alert').getByText('nobody').waitFor();
    await dialog.getByLabel('Model').fill('scripted:again.json');
    await make.dblclick();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('article', { name: 'Answer' }).getByText('Again.').waitFor();
    await page.goto(at(`/trees/${tree}`));
    const cuts = page.getByRole('list', { name: 'Trees that were made from this one' });
    const made = cuts.getByRole('listitem').filter({ hasText: 'scripted:again.json' });
    await made.getByText('idle').waitFor();
    assert.equal(await made.count(), 1);
    assert.deepEqual(
      faults.splice(0).filter((fault) => !/400|422/.test(fault)),
      [],
    );
  });

  it('it goes on in two ways, which stand side by side, and one of them is taken over', async () => {
    const { page, home, faults } = dashboard;
    await page.goto(at(`/trees/${tree}`));
    await page.getByRole('button', { name: 'What if…' }).click();
    const dialog = page.getByRole('dialog', { name: 'What if…' });
    await dialog.getByLabel('From').fill('never');
    await assertLooks(dashboard, 'what-if');
    await page.keyboard.press('Control+Enter');
    await dialog.getByRole('alert').getByText('names no message').waitFor();
    await dialog.getByLabel('From').fill('1');
    await dialog.getByLabel('Models').fill('scripted:rules.json,');
    const both = 'scripted:rules.json,scripted:again.json';
    await dialog.locator(`datalist option[value="${both}"]`).waitFor({ state: 'attached' });
    await dialog.getByLabel('Models').fill(both);
    await dialog.getByRole('checkbox', { name: 'The test of the server' }).check();
    await dialog.getByRole('button', { name: 'Continue' }).dblclick();
    await dialog.waitFor({ state: 'hidden' });
    const results = page.getByRole('region', { name: 'Results' });
    const red = results.getByRole('row').filter({ hasText: 'scripted:rules.json' });
    await red.getByText('It is crimson.').waitFor();
    await results
      .getByRole('row')
      .filter({ hasText: 'exit 1' })
      .getByText('Again.', { exact: true })
      .waitFor();
    await assertLooks(dashboard, 'what-if-results');
    await runGit(home.work, 'clean', '--force', '--quiet');
    await red.getByRole('button', { name: 'Take over…' }).click();
    await page.getByRole('dialog', { name: 'Merge into main?' }).getByText('test -e colour.txt').waitFor();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByRole('dialog', { name: 'Merged into main' }).waitFor();
    assert.ok(existsSync(join(home.work, 'colour.txt')));
    await page.getByRole('button', { name: 'Close' }).click();
    assert.deepEqual(
      faults.splice(0).filter((fault) => !/400/.test(fault)),
      [],
    );
  });

  it('Back and Forward pressed fast lose no step, and a step just chosen has its address before the page is left', async () => {
    const { page, faults } = dashboard;
    await page.goto(at(`/trees/${tree}`));
    const tabs = ['Cost', 'Messages', 'Tree', 'Files'];
    for (const name of tabs) await page.getByRole('tab', { name }).click();
    await page.waitForURL(/[?&]tab=files/);
    const entries = () => page.evaluate('history.length');
    const before = await entries();
    for (const ms of [1, 5, 20]) {
      await page.evaluate(async (wait) => {
        for (const step of [-1, -1, -1, 1, 1, 1]) {
          history.go(step);
          await new Promise((resolve) => setTimeout(resolve, wait));
        }
      }, ms);
      await until(async () => {
        const tab = await page.getByRole('tab', { selected: true }).innerText();
        return (new URL(page.url()).searchParams.get('tab') ?? 'tokens') === tab.toLowerCase();
      }, 'the page shows what its address says');
      assert.equal(await entries(), before, 'nothing was written over what Forward leads to');
      // Each round begins at the end, so that none leaves the page: a browser may drop steps of a burst.
      for (let n = 0; n < 3 && !page.url().endsWith('tab=files'); n += 1) await page.goForward();
      await page.getByRole('tab', { name: 'Files', selected: true }).waitFor();
    }
    // Two changes shortly after one another: the address of the second is written late; then a key leaves.
    const inspector = page.getByRole('complementary', { name: 'Selected' });
    await page.getByRole('application').focus();
    for (const name of ['main', 'painter']) {
      await page.keyboard.press('ArrowDown');
      await inspector.getByRole('link', { name, exact: true }).waitFor();
    }
    await page.keyboard.press('l');
    await page.waitForURL(/\/live/);
    await page.goBack();
    await inspector.getByRole('link', { name: 'painter', exact: true }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('from the timeline, files of then come back, and another model goes on', async () => {
    const { page, home, faults } = dashboard;
    await page.goto(at(`/trees/${tree}`));
    await page.getByRole('application').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowRight');
    const inspector = page.getByRole('complementary', { name: 'Selected' });
    await inspector.getByRole('button', { name: 'Go back…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('The new tree is as this one was').selectOption('Just before it');
    await dialog.getByText('What that changes').click();
    await dialog.getByText('colour.txt would be removed').waitFor();
    await dialog.getByRole('checkbox', { name: /the content of then/ }).check();
    await dialog.getByLabel('Model').fill('scripted:again.json');
    await dialog.getByRole('button', { name: 'Make the new tree' }).click();
    await page.getByText('It rests until it is resumed').waitFor();
    await page.getByRole('definition').filter({ hasText: 'scripted:again.json' }).waitFor();
    assert.equal(existsSync(join(home.work, 'colour.txt')), false);
    // Nobody waits for it.
    const { pathname } = new URL(page.url());
    for (const path of [pathname.replace('trees', 'agents'), `${pathname}/live`]) {
      await page.goto(at(path));
      await page.getByText('rests').first().waitFor();
      assert.equal(await page.locator('.unled, .trouble').count(), 0, path);
    }
    assert.match(
      (await home.run(['tree', pathname.split('/')[2] ?? ''])).stdout,
      /^unled: it rests where it was cut/m,
    );
    await page.goto(at('/trees'));
    await page.getByText('rests until it is resumed').waitFor();
    await page.getByRole('link', { name: 'Needs you 0' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('what led to an answer stands in the timeline, has an address, and leads to the messages', async () => {
    const { page, faults } = dashboard;
    await page.goto(at(`/agents/${tree}`));
    await page
      .getByRole('article', { name: /^Message \d+, main$/ })
      .last()
      .focus();
    await page.keyboard.press('w');
    const steps = page.getByRole('list', { name: 'What led to it' });
    await steps.getByText('Crimson it is.').waitFor();
    await steps.getByText('you: paint it red').first().waitFor();
    assert.match(page.url(), /[?&]why=\d+/);
    await assertLooks(dashboard, 'why');
    await page.reload();
    await steps.getByText('you: paint it red').first().waitFor();
    // Above the timeline; before it is there, it would move what is clicked.
    await page.getByRole('article', { name: 'Answer' }).waitFor();
    await page.getByRole('button', { name: 'Why', pressed: true }).click();
    await steps.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Why', pressed: false }).click();
    await page.waitForURL(/[?&]why=\d+/);
    await steps
      .getByRole('link', { name: /^painter #\d+$/ })
      .first()
      .click();
    await page.getByRole('heading', { name: /^painter/ }).waitFor();
    await page.goBack();
    await steps.waitFor();
    assert.deepEqual(faults, []);
  });

  it('of many trees that were made from one, the newest are shown, at rest without alarm', async () => {
    const { page, home, faults } = dashboard;
    for (let times = 0; times < 9; times += 1) {
      const { code, stderr } = await home.run(['rewind', tree, '--to', '1']);
      assert.equal(code, 0, stderr);
    }
    await page.goto(at(`/trees/${tree}`));
    const cuts = page.getByRole('list', { name: 'Trees that were made from this one' }).getByRole('listitem');
    await cuts.getByRole('button', { name: /^\d+ more trees$/ }).waitFor();
    assert.equal(await cuts.getByRole('link', { name: 'Compare' }).count(), 3);
    assert.deepEqual(await cuts.locator('.status').allInnerTexts(), ['○ rests', '○ rests', '○ rests']);
    await cuts.getByRole('button').click();
    await cuts.getByRole('link', { name: 'Compare' }).nth(8).waitFor();
    assert.deepEqual(faults, []);
  });
});
