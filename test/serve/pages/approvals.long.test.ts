// Proves in a real browser what the page of approvals lets a person see before they answer: the whole of a long command, exactly what a lasting grant would
// allow, the narrow rule first; that an answer carries the digest of what the page shows; and that who answers too late hears of it.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { until } from '../../until.ts';
import { setWebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, signIn } from './browser.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const NONE = { allow: [], ask: [], deny: [] };
const LONG = `echo ${'x'.repeat(15_000)}; touch in-the-middle; echo ${'y'.repeat(15_000)}; true the-end`;

it('the whole call can be opened; a lasting grant is the narrow rule, and says first what it is', {
  skip,
}, async () => {
  const bash = (command: string) => [['bash', { command }]] as const;
  const web = await setWebStage(
    ({ step }) => {
      if (step < 2) return bash(step === 0 ? LONG : 'git status --short');
      return step === 2 ? [['write', { path: 'src/new.ts', content: 'if (x) {\u202e }\n' }]] : 'done';
    },
    {
      tools: createBuiltInTools(),
      config: { permissions: { cli: { ...NONE, ask: ['bash', 'write'] }, config: NONE } },
    },
  );
  const watch = await openPage();
  const shot = async (name: string) => {
    if (process.env.SHOTS === undefined) return;
    mkdirSync(process.env.SHOTS, { recursive: true });
    await watch.page.screenshot({ path: join(process.env.SHOTS, name), fullPage: true });
  };
  try {
    const { page } = watch;
    const sent: unknown[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.postDataJSON()));
    await signIn(page, web);
    await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'begin' } });
    const open = async () => (await web.ask('/v1/approvals')).json.approvals;
    await until(async () => (await open()).length === 1, 'it asks');
    await page.goto(new URL('/approvals', web.url).href);
    const row = page.getByRole('article');
    await row.getByText('the-end').first().waitFor();
    assert.equal(await row.locator('pre').first().getByText('in-the-middle').count(), 0);
    await shot('long.png');
    await row.getByRole('button', { name: `Show all ${LONG.length} characters` }).click();
    assert.equal(await row.locator('pre').first().textContent(), LONG);
    const [{ shown }] = await open();
    await row.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Allowed bash of main').waitFor();
    assert.deepEqual(sent.at(-1), { scope: 'once', shown });

    await page.getByRole('article', { name: /git status/ }).waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    await row.focus();
    await page.keyboard.press('s');
    const form = row.getByRole('form', { name: 'Allow from now on' });
    await form.getByText('bash:git status *: only main, until it ends').waitFor();
    assert.deepEqual((await web.ask('/v1/rules')).json.rules, []);
    assert.deepEqual(await form.getByLabel('Rule').locator('option').allTextContents(), [
      'bash:git status --short',
      'bash:git status *',
      'bash:git *',
    ]);
    assert.deepEqual(await watch.violations(), []);
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0);
    await shot('grant.png');
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: 'Allow from now on…' }).click();
    await form.getByLabel('For').selectOption('this tree');
    await form.getByText('bash:git status *: every agent of this tree').waitFor();
    await form.getByRole('button', { name: 'Grant it' }).click();
    await page.getByText('Allowed from now on (bash:git status *): bash of main').waitFor();
    // A rule for one file is of use for its next changes, too, so it is the first.
    const written = page.getByRole('article', { name: /wants write/ });
    await written.locator('.diff').getByText('+if (x) {\\u{202e} }').waitFor();
    await row.getByRole('button', { name: 'Allow from now on…' }).click();
    await form.getByText('write:src/new.ts: only main, until it ends').waitFor();
    await web.ask(`/v1/approvals/${(await open())[0].id}/deny`, { method: 'POST', body: { note: '' } });
    const { rules } = (await web.ask('/v1/rules')).json;
    assert.deepEqual(
      rules.map(({ rule, scope }: { rule: string; scope: string }) => [rule, scope]),
      [['bash:git status *', 'session']],
    );
    assert.deepEqual(watch.faults, []);

    await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'begin again' } });
    await until(async () => (await open()).length === 1, 'another tree asks');
    await page.route('**/v1/approvals/*/allow', async (route) => {
      const [{ id }] = await open();
      await web.ask(`/v1/approvals/${id}/deny`, { method: 'POST', body: { note: '' } });
      await route.continue();
    });
    await row.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText(/^main: bash .* was denied by you .*; nothing was answered$/).waitFor();
  } finally {
    await watch.browser.close();
    await web.close();
  }
});
