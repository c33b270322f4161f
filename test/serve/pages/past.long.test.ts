// Proves in a real browser, against `coppice serve`, that a person takes a tree back from the page: from a message and from the timeline, after reading what the
// new tree has, with another text and another model; and sees what led to an answer, as arrows and as a list.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
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
    dashboard = await openDashboard(RULES, { agents: { defaults: { permissions: { allow: ['write'] } } } });
    const { home, page, link } = dashboard;
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
    await page.locator('h1').getByText('unled').waitFor();
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

  it('the same is asked again of two models at once, which go on; a failure in between makes none twice', async () => {
    const { page, faults } = dashboard;
    await page.goto(at(`/trees/${tree}`));
    await page.getByRole('button', { name: 'Again…' }).waitFor();
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog', { name: 'Go back to message 1 of main' });
    await dialog.getByText(/^main: requesting, 1 message, without/).waitFor();
    let asked = 0;
    await page.route('**/rewind', (route) => {
      if (!route.request().postData()?.includes('dry_run')) asked += 1;
      return asked === 2 ? route.abort() : route.continue();
    });
    await dialog.getByLabel('Model').fill('scripted:rules.json, nobody/nothing');
    await dialog.getByRole('checkbox', { name: 'It goes on at once' }).check();
    await dialog.getByRole('button', { name: 'Make the new tree' }).dblclick();
    await dialog.getByRole('alert').getByText('the server does not answer').waitFor();
    await page.unroute('**/rewind');
    await dialog.getByRole('button', { name: 'Make the new tree' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const cuts = page.getByRole('list', { name: 'Trees that were made from this one' });
    const made = cuts.getByRole('listitem').filter({ hasText: 'paint it red' });
    await made.filter({ hasText: 'nobody/nothing' }).getByText('error').waitFor();
    await made.filter({ hasText: 'scripted:rules.json' }).getByText('idle').waitFor();
    assert.equal(await made.count(), 2);
    assert.deepEqual(
      faults.splice(0).filter((fault) => !/ERR_FAILED/.test(fault)),
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
    await dialog.getByLabel('Model').fill('anthropic/claude-sonnet-4-5');
    await dialog.getByRole('button', { name: 'Make the new tree' }).click();
    await page.getByText('It rests until it is resumed').waitFor();
    await page.getByRole('definition').filter({ hasText: 'anthropic/claude-sonnet-4-5' }).waitFor();
    assert.equal(existsSync(join(home.work, 'colour.txt')), false);
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
});
