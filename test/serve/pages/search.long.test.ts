// Proves in a real browser, against `coppice serve`, that a person finds words in all conversations and lands on the message, and finds them in one
// conversation wherever they are folded or not loaded; and that a server may refuse to search.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../until.ts';
import { assertLooks, CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const STEPS = 60;
/** A line of output that is folded away: it stands behind 40 others. */
const FOLDED = `for i in $(seq 40); do echo line $i; done; echo the Quetzal is here`;
const RULES = [
  ...Array.from({ length: STEPS }, (_, step) => ({
    when: { user: 'walk', step },
    say: `Step ${step}: ${step % 20 === 7 ? 'a kiwi & <b>kakapo</b>' : 'nothing yet'}.`,
    calls: [{ name: 'bash', input: { command: step === 30 ? FOLDED : `echo ${step}` } }],
  })),
  { when: { user: 'walk' }, say: 'The walk is over.' },
  { say: 'A kiwi was asked for.' },
];

describe('search', { skip }, () => {
  let dashboard: Dashboard;
  let walk = '';
  /** The places of the message in view that are marked. */
  const marked = () =>
    dashboard.page.evaluate<string[]>("[...(CSS.highlights.get('found-now') ?? [])].map(String)");

  before(async () => {
    dashboard = await openDashboard(RULES, { agents: { defaults: { permissions: { allow: ['bash:*'] } } } });
    const { home, page, link } = dashboard;
    for (const prompt of ['walk', 'say kiwi']) {
      const { stdout, stderr } = await home.run(['run', prompt, '--model', 'scripted:rules.json', '--json']);
      assert.match(stdout, /"id"/, stderr);
      if (prompt === 'walk') walk = JSON.parse(stdout).id;
    }
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
  });
  after(() => dashboard?.close());

  it('across trees: from the list to the messages, newest first, and to the place in the conversation', async () => {
    const { page, faults } = dashboard;
    await page.keyboard.press('/');
    await page.keyboard.type('kiwi');
    await page.keyboard.press('Enter');
    const hits = page.locator('.hits li');
    await page.getByText('5 messages, newest first').waitFor();
    assert.deepEqual(await hits.nth(0).locator('mark').allTextContents(), ['kiwi']);
    assert.match(await hits.nth(0).innerText(), /say kiwi.*wrote.*\nA kiwi was asked for\.$/s);
    assert.match(await hits.nth(2).innerText(), /main · walk.*a kiwi & <b>kakapo<\/b>/s);
    assert.deepEqual(await dashboard.violations(), []);
    await hits.nth(2).getByRole('link').click();
    await page.getByText('3 of 3').waitFor();
    await page.getByText('Step 47: a kiwi').waitFor();
    assert.deepEqual(await marked(), ['kiwi']);
    assert.deepEqual(faults, []);
  });

  it('in a conversation: what is folded and far away, by keys', async () => {
    const { page, link, faults } = dashboard;
    await page.goto(new URL(`/agents/${walk}`, link).href);
    await page.getByText('The walk is over.').waitFor();
    const box = page.getByLabel('Find in the conversation').getByRole('searchbox');
    // Keys do nothing before the page has read its conversation.
    await until(async () => {
      if (!(await box.isVisible())) await page.keyboard.press('/');
      return box.isVisible();
    }, 'the words can be typed');
    await box.fill('KIWI');
    await page.getByText('3 of 3').waitFor();
    await page.getByText('Step 47: a kiwi').waitFor();
    for (const [key, place, text] of [
      ['Enter', '1 of 3', 'Step 7: a kiwi'],
      ['Enter', '2 of 3', 'Step 27: a kiwi'],
      ['Shift+Enter', '1 of 3', 'Step 7: a kiwi'],
      ['Shift+Enter', '3 of 3', 'Step 47: a kiwi'],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByText(place).waitFor();
      await page.getByText(text).waitFor();
      await until(async () => (await marked()).length === 1, 'it is marked');
    }
    await page.getByLabel('Find in the conversation').getByRole('searchbox').fill('"is here" quetzal');
    await page.getByText('1 of 1').waitFor();
    await page.getByText('the Quetzal is here', { exact: false }).last().waitFor();
    await until(async () => (await marked()).includes('Quetzal'), 'it is marked');
    await assertLooks(dashboard, 'search');
    await page.getByLabel('Find in the conversation').getByRole('searchbox').press('Escape');
    await page.getByRole('button', { name: 'Find…' }).waitFor();
    // The marks go a moment after the picture.
    await until(async () => (await page.evaluate('CSS.highlights.size')) === 0, 'nothing is marked');
    assert.deepEqual(faults, []);
  });

  it('the command finds the same, and a server that does not search says so', async () => {
    const { home } = dashboard;
    const { stdout } = await home.run(['search', 'kakapo', '--json']);
    assert.equal(JSON.parse(stdout).hits.length, 3);
    const text = await home.run(['search', '"walk is over"']);
    assert.match(text.stdout, /^main \w{8} #\d+ · walk\n {2}The walk is over\.\n$/);
    home.configure({ server: { search: false } });
    const off = await home.run(['search', 'kakapo']);
    assert.match(off.stderr, /searching conversations is switched off/);
  });
});
