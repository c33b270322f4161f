// Proves in a real browser that the page of a tree of dozens of agents stays readable: a map of all agents by outcome that the keyboard moves through, approvals
// where they are told of, letters as a list, the run in numbers, and tabs that Back undoes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertLooks, CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const WORDS = ['atlas', 'birch', 'cedar', 'dogwood', 'elm'];
const READERS = Array.from({ length: 40 }, (_, number) => `${WORDS[number % 5]}-${number}`);
const NAMES = [...READERS, 'broken', 'writer'];
const RULES = [
  {
    when: { root: true, step: 0 },
    calls: NAMES.map((name) => ({ name: 'fork', input: { name, prompt: 'go' } })),
  },
  {
    when: { root: true, step: 1 },
    calls: [{ name: 'wait', input: { timeout: 600, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  { when: { root: true }, say: 'All have reported.' },
  { when: { agent: 'writer', step: 0 }, calls: [{ name: 'write', input: { path: 'a.md', content: 'a' } }] },
  // No rule matches `broken`: its request fails.
  ...[...READERS, 'writer'].map((agent) => ({ when: { agent }, say: `${agent} has read it.` })),
];

describe('a crowd of agents', { skip: CHROMIUM === null ? 'chromium is not installed' : false }, () => {
  let dash: Dashboard;
  let tree = '';

  before(async () => {
    dash = await openDashboard(RULES, {
      agents: { defaults: { limits: { children: 64, live: 80 } } },
    });
    const { page, link, home } = dash;
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
    const run = await home.run(['run', 'read all', '--detach', '--model', 'scripted:rules.json', '--json']);
    const { id, agents } = JSON.parse(run.stdout) as { id?: string; agents?: readonly { id: string }[] };
    tree = new URL(`/trees/${id ?? agents?.[0]?.id}`, link).href;
    await page.goto(tree);
    await page.getByText(/^. 40 (idle|done)$/).waitFor();
    await page.getByText('wants write').waitFor();
  });
  after(() => dash?.close());

  it('has a map by outcome: sorted, in the address, moved through by keys, opening agents', async () => {
    const { page } = dash;
    const map = page.getByRole('region', { name: 'Map of the agents' });
    const cells = map.getByRole('listitem').getByRole('link');
    assert.equal(await cells.count(), 43);
    assert.match(String(await cells.first().getAttribute('aria-label')), /^main, waiting/);
    await map.getByRole('button', { name: 'failed first' }).click();
    assert.match(String(await cells.first().getAttribute('aria-label')), /^broken, /);
    await page.waitForURL(/[?&]sort=failed/);
    await page.reload();
    assert.match(String(await cells.first().getAttribute('aria-label')), /^broken, /);
    assert.equal(await map.locator('a[tabindex="0"]').count(), 1, 'one stop for Tab');
    await cells.first().focus();
    const at = () => cells.evaluateAll((all) => all.indexOf(document.activeElement as HTMLElement));
    await page.keyboard.press('ArrowRight');
    assert.equal(await at(), 1);
    await page.keyboard.press('End');
    assert.equal(await at(), 42);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.keyboard.press('ArrowUp');
    const [now, last] = [await at(), 42];
    assert.ok(now > 0 && now < last - 1, 'up is a row up');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^broken/ }).waitFor();
    await page.goBack();
    await map.waitFor();
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  it('offers the approval where the page says what the run waits for, and the timeline takes the window', async () => {
    const { page, faults } = dash;
    await page.getByRole('heading', { name: 'The run' }).waitFor();
    await page.getByText('Longest calls').waitFor();
    const height = await page.locator('.lanes').evaluate((lanes) => lanes.clientHeight / window.innerHeight);
    assert.ok(height > 0.8, `the timeline has ${height} of the height`);
    const sentence = page.locator('.path-sentence', { hasText: 'waited for your approval of write a.md' });
    const card = page.getByRole('article', { name: /^writer wants write/ });
    const [above, below] = [await sentence.boundingBox(), await card.boundingBox()];
    assert.ok(above !== null && below !== null && below.y - above.y - above.height < 40);
    await card.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('All have reported.').first().waitFor();
    assert.deepEqual(faults, []);
  });

  it('lists the letters of so many, and Back undoes a change of tab', async () => {
    const { page } = dash;
    await page.goto(tree);
    await page.getByRole('tab', { name: 'Messages' }).click();
    const letters = page.locator('.letters tbody tr');
    await letters.nth(40).waitFor();
    await letters.filter({ hasText: 'report: atlas-0 has read it.' }).waitFor();
    assert.equal(await page.locator('svg .life').count(), 0);
    await page.waitForURL(/tab=messages/);
    await page.getByRole('tab', { name: 'Tree' }).click();
    await page.waitForURL(/tab=tree/);
    await page.goBack();
    await page.getByRole('tab', { name: 'Messages', selected: true }).waitFor();
    await letters.first().waitFor();
    await page.goBack();
    await page.getByRole('tab', { name: 'Tokens', selected: true }).waitFor();
    await page.goForward();
    await page.getByRole('tab', { name: 'Messages', selected: true }).waitFor();
  });

  it('has nothing that axe finds serious, and fits a phone', () => assertLooks(dash, 'crowd'));

  it('shows as much in the colours of the system', async () => {
    const { page } = dash;
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    await page.goto(tree);
    await page.locator('.lane-bars[data-painted=bars]').waitFor();
    const colours = await page.locator('.lane-bars').evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const pen = (canvas as HTMLCanvasElement).getContext('2d');
      const pixels = new Uint32Array(
        pen?.getImageData(0, 0, width, height).data.buffer ?? new ArrayBuffer(0),
      );
      return new Set(pixels).size;
    });
    assert.ok(colours > 3, 'bars and lines are drawn');
    const widthOf = (selector: string, property: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
    assert.equal(await widthOf('.cell', 'border-top-width'), '1px', 'cells have edges');
    assert.equal(await widthOf('.below-tabs [aria-selected=true]', 'outline-style'), 'solid');
    assert.equal(await widthOf('.bar nav [aria-current]', 'outline-style'), 'solid');
    assert.deepEqual(await dash.violations(), []);
    await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light' });
  });

  it('has dates with their times, rows as dense as one likes them, and a page for an address that is none', async () => {
    const { page, link, faults } = dash;
    await page.goto(new URL('/trees', link).href);
    await page.locator('.trees time').waitFor();
    for (const time of await page.locator('main time').allInnerTexts())
      assert.match(time, /\d.*\d{1,2}:\d{2}.* · /, 'day, time, how long ago');
    const padding = () =>
      page
        .locator('.trees td')
        .first()
        .evaluate((cell) => getComputedStyle(cell).paddingTop);
    const comfortable = await padding();
    await page.getByRole('button', { name: 'Compact' }).click();
    assert.notEqual(await padding(), comfortable);
    await page.reload();
    await page.locator('.trees time').waitFor();
    assert.notEqual(await padding(), comfortable, 'the browser remembers it');
    await page.getByRole('button', { name: 'Compact', pressed: true }).click();
    assert.equal(await padding(), comfortable);

    assert.deepEqual(faults, []);
    const answer = await page.goto(new URL('/nothing', link).href);
    assert.equal(answer?.status(), 404);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    assert.deepEqual(await dash.violations(), []);
    await page.getByRole('main').getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    const refused = await fetch(new URL('/nothing', link), { headers: { accept: 'text/html' } });
    assert.equal(refused.status, 401, 'a program learns nothing of paths without a token');
    const named = await fetch(new URL('/v1/trees', link), { headers: { 'sec-fetch-mode': 'navigate' } });
    assert.equal(named.status, 401);
  });

  it('goes back from tab to tab of an agent, too', async () => {
    const { page } = dash;
    await page.goto(tree.replace('/trees/', '/agents/'));
    await page.getByRole('heading', { name: /^main/ }).waitFor();
    const view = (name: string) =>
      page.getByRole('navigation', { name: 'View' }).locator('[aria-current]', { hasText: name }).waitFor();
    await page.keyboard.press('2');
    await view('As the model sees it');
    await page.getByRole('link', { name: 'Requests' }).click();
    await view('Requests');
    await page.goBack();
    await view('As the model sees it');
    await page.goBack();
    await view('Transcript');
  });
});
