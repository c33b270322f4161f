// Proves in a real browser that a question of a real MCP server is answered in its form on the page of approvals: invalid values are reported, keys typed into
// the form do not answer the question, and the values reach the server.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { testingHost } from '../../tools/mcp-servers/servers.ts';
import { until } from '../../until.ts';
import { setWebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, signIn } from './browser.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const PROGRAM = join(import.meta.dirname, '..', '..', 'servers', 'mcp-asking-server.ts');
const NONE = { allow: [], ask: [], deny: [] };

it('a question is answered in its form', { skip }, async () => {
  const host = testingHost({ servers: { t: { command: process.execPath, args: [PROGRAM, 'new'] } } });
  const web = await setWebStage(({ step }) => (step === 0 ? [['t__book', {}]] : 'done'), {
    openServers: async () => host,
    config: { tools: ['t__*'], permissions: { cli: { ...NONE, allow: ['*'] }, config: NONE } },
  });
  const watch = await openPage();
  try {
    const { page } = watch;
    await signIn(page, web);
    const started = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'book' } });
    await until(async () => (await web.ask('/v1/approvals')).json.approvals.length === 1, 'it asks');
    await page.goto(new URL('/approvals', web.url).href);
    const row = page.getByRole('article', { name: /^main wants t__book/ });
    await row.getByText('the MCP server t asks: Which table?').waitFor();
    await row.getByText('whole number, 1 to 8, required').waitFor();
    assert.equal(await row.getByRole('button', { name: 'Allow once' }).count(), 0);
    if (process.env.SHOTS !== undefined) {
      mkdirSync(process.env.SHOTS, { recursive: true });
      await page.screenshot({ path: join(process.env.SHOTS, 'question.png'), fullPage: true });
    }
    // The approval key moves the focus into the form and answers nothing.
    await row.focus();
    await page.keyboard.press('y');
    await page.keyboard.type('yes');
    await row.getByLabel('guests').fill('9');
    await row.getByLabel(/^room/).selectOption('garden');
    await row.getByLabel(/^extras/).selectOption(['cake', 'music']);
    await row.getByRole('button', { name: 'Answer' }).click();
    await row.getByText(/field "guests" must be at most 8/).waitFor();
    assert.equal((await web.ask('/v1/approvals')).json.approvals.length, 1);
    await row.getByLabel('guests').fill('3');
    await row.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('Answered t__book of main').waitFor();
    const { runtime } = web.stage;
    await runtime.settled(String(started.json.id));
    const [result] = await web.stage.results(await web.stage.agent('main'));
    assert.deepEqual(JSON.parse(result?.output ?? ''), {
      action: 'accept',
      content: { name: 'yes', guests: 3, smoking: false, room: 'garden', extras: ['cake', 'music'] },
      done: 1,
    });
  } finally {
    await watch.browser.close();
    await web.close();
  }
});
