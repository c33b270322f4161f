// Proves in a real browser that what is printed can be read: a conversation and a timeline as a whole and not only what is in view, answers unfolded, light
// colours in a dark window, nothing to press; that paper says which messages and lines it lacks; and that the page then goes on as it was.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, type PageWatch, signIn } from './browser.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
/** More than the table of agents holds while it is looked at. */
const AGENTS = 30;
const LONG = Array.from({ length: 60 }, (_, at) => `Paragraph ${at}.`).join('\n\n');
const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  input: z.object({ text: z.string() }),
  subject: ({ text }) => text,
  run: ({ text }) => text,
});

/** What the browser does around the layout for paper. */
async function printed<Seen>(page: Page, look: () => Promise<Seen>): Promise<Seen> {
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  const seen = await look();
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  return seen;
}

describe('on paper', { skip }, () => {
  let web: WebStage;
  let watch: PageWatch;

  before(async () => {
    web = await setWebStage(
      ({ user, step, name }) => {
        if (user.startsWith('many') && step < 90) return [['note', { text: `note ${step}` }]];
        if (user.startsWith('crowd') && name === 'main' && step === 0)
          return Array.from({ length: AGENTS / 2 }, (_, at) => [
            'fork',
            { name: `${String.fromCharCode(97 + at)}-agent`, prompt: 'ask another one' },
          ]);
        if (name.endsWith('-agent') && step === 0)
          return [['fork', { name: `${name[0]}-reader`, prompt: 'say something' }]];
        return LONG;
      },
      { tools: [note] },
    );
    watch = await openPage();
    await signIn(watch.page, web);
    await watch.page.emulateMedia({ colorScheme: 'dark' });
  });
  after(async () => {
    await watch?.browser.close();
    await web?.close();
  });

  /** Opens what a new tree came to. */
  const open = async (prompt: string, path: 'trees' | 'agents') => {
    const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt } });
    await web.stage.runtime.settled(json.id);
    await watch.page.goto(`${web.url}/${path}/${json.id}`);
  };

  it('a conversation is printed as far as it was read, and says what is not there', async () => {
    const { page, faults } = watch;
    await open('many', 'agents');
    await page.getByText('Paragraph 59.').waitFor();
    const first = () =>
      page.locator('.scroller').evaluate((list) => {
        const { top } = list.getBoundingClientRect();
        const inView = [...list.querySelectorAll('.message')].find(
          (one) => one.getBoundingClientRect().bottom > top + 2,
        );
        return inView?.ariaLabel;
      });
    await page.locator('.scroller').evaluate((list) => list.scrollBy({ top: -4_000 }));
    let before: string | null | undefined;
    await until(async () => {
      const seen = before;
      before = await first();
      return seen !== undefined && seen === before;
    }, 'the list has come to rest');
    const inView = await page.locator('.message').count();
    assert.ok((await page.pdf()).length > 0);
    await until(async () => (await first()) === before, `${before} is in view again`);
    await printed(page, async () => {
      await page.getByText(/^\d+ of \d+ messages are not on this paper/).waitFor();
      assert.ok((await page.locator('.message:visible').count()) > inView);
      for (const [role, name] of [
        ['navigation', 'Pages'],
        ['textbox', /./],
        ['button', /Send|Find|Go back|Kill/],
      ] as const)
        assert.equal(await page.getByRole(role, { name }).count(), 0, role);
      const { high, fits } = await page.locator('.scroller').evaluate((list) => ({
        high: list.scrollHeight - list.clientHeight,
        fits: document.documentElement.scrollHeight >= list.scrollHeight,
      }));
      assert.deepEqual({ high, fits }, { high: 0, fits: true });
      assert.equal(
        await page.locator('body').evaluate((body) => getComputedStyle(body).colorScheme),
        'light',
      );
    });
    await page.getByText('are not on this paper').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Send' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('a tree is printed with its whole answer and every line of its timeline, in the colours of paper', async () => {
    const { page, faults } = watch;
    await page.setViewportSize({ width: 1_200, height: 480 });
    await open('crowd', 'trees');
    const canvas = page.locator('canvas[data-painted=bars]');
    await canvas.waitFor();
    const names = page.locator('.lane-names > li');
    const size = () => canvas.evaluate(({ style: { width, height } }) => ({ width, height }));
    const corner = () =>
      canvas.evaluate((one) => [
        ...(one as HTMLCanvasElement).getContext('2d')!.getImageData(2, 2, 1, 1).data,
      ]);
    const before = { size: await size(), corner: await corner(), names: await names.count() };
    await printed(page, async () => {
      await page.getByText('Paragraph 59.').first().waitFor();
      await names.nth(AGENTS).waitFor();
      assert.deepEqual(await corner(), [255, 255, 255, 255]);
      assert.equal(Number.parseFloat((await size()).height), 24 + (AGENTS + 1) * 24);
      assert.equal(await page.getByRole('button', { name: 'Kill…' }).count(), 0);
      assert.ok((await page.locator('.lanes').evaluate(({ clientWidth }) => clientWidth)) <= 700);
    });
    await page.getByRole('tab', { name: 'Tree', exact: true }).click();
    const rows = page.getByRole('region', { name: 'Agents' }).locator('tbody tr[aria-rowindex]');
    await rows.first().waitFor();
    assert.ok((await rows.count()) <= AGENTS);
    // As with more agents than a canvas has room for.
    await page.evaluate(() =>
      document.styleSheets[0]?.insertRule(
        '.lanes.on-paper { min-height: 0; max-height: 120px }',
        document.styleSheets[0].cssRules.length,
      ),
    );
    await printed(page, async () => {
      await rows.nth(AGENTS).waitFor();
      await page
        .getByText(`The last ${AGENTS + 1 - 4} of ${AGENTS + 1} lines of the timeline have no room`)
        .waitFor();
    });
    await page.getByText('have no room on this paper').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Kill…' }).waitFor();
    await names.nth(before.names).waitFor({ state: 'detached' });
    assert.deepEqual(
      { size: await size(), names: await names.count() },
      { size: before.size, names: before.names },
    );
    assert.deepEqual(faults, []);
  });
});
