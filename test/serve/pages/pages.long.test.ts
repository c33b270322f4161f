// Proves in a real browser that the dashboard's pages show the ledger's contents as text: no payload in a name, title, message, call, output or file name
// executes, axe finds nothing serious, light or dark, wide or narrow, and a conversation of thousands of messages scrolls with few elements.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { DEEP } from '../../house/deep.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, type PageWatch, signIn } from './browser.ts';
import { PAYLOADS } from './payloads.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const LONG_CONVERSATION = DEEP ? 2_000 : 500;
const ALL = PAYLOADS.join('\n');
const ASKS = { cli: { allow: [], ask: ['ask'], deny: [] }, config: { allow: ['*'], ask: [], deny: [] } };
const tools = ['note', 'ask'].map((name) =>
  defineTool({
    name,
    description: 'Notes a text.',
    input: z.object({ text: z.string() }),
    subject: ({ text }) => text,
    run: ({ text }) => text,
  }),
);

const MARKDOWN = `# Findings

| file | faults |
| --- | ---: |
| src/db.ts &amp; more | 2 |

- [x] see [the docs](https://example.org/docs)

![pixel](https://evil.example/x.png) [run](javascript:alert(1)) [data](data:text/html,x) [own](/v1/trees)

<img src="https://evil.example/y.png" onerror="alert(1)">

\`\`\`ts
export const x = 1;
\`\`\``;

describe('pages of the dashboard', { skip }, () => {
  let web: WebStage;
  let watch: PageWatch;
  let agent = '';
  let job = '';

  before(async () => {
    web = await setWebStage(
      ({ user, step, name }) => {
        if (user.startsWith('fail')) throw new Error(ALL);
        if (user === MARKDOWN) return MARKDOWN;
        if (user.startsWith('many') && step < 400) return PAYLOADS.map((text) => ['note', { text }] as const);
        if (user.startsWith('gather') && step < (user === 'gather' ? 2 : 1))
          return [
            ['fork', { name: 'helper', prompt: 'Tell main of it.' }] as const,
            ['wait', { timeout: 30, from_agents: ['helper'] }] as const,
          ].slice(step, step + 1);
        if (name === 'helper' && step === 0) return [['send', { to: 'main', message: `News: ${ALL}` }]];
        if (step === 0 && name === 'main')
          return [
            ['note', { text: ALL }],
            ['fork', { name: PAYLOADS[1], prompt: ALL }],
          ];
        if (step === 1 && !user.startsWith('gather')) return [['ask', { text: ALL }]];
        return ALL;
      },
      { tools, config: { permissions: ASKS } },
    );
    const start = async (prompt: string) =>
      String((await web.ask('/v1/trees', { method: 'POST', body: { prompt } })).json.id);
    agent = await start(ALL);
    for (const payload of PAYLOADS) await start(payload);
    await start(`fail ${ALL}`);
    const added = await web.ask('/v1/jobs', {
      method: 'POST',
      body: { name: PAYLOADS[1], task: ALL, every: '1h', deliver: [`file:/tmp/${PAYLOADS[2]}`] },
    });
    job = String(added.json.id);
    await web.ask(`/v1/jobs/${job}/run`, { method: 'POST', body: {} });
    await until(
      async () => (await web.ask('/v1/approvals')).json.approvals.length >= PAYLOADS.length,
      'every tree asks',
    );
    watch = await openPage();
    await signIn(watch.page, web);
  });
  after(async () => {
    await watch?.browser.close();
    await web?.close();
  });

  const pages = () => [
    ['/trees', PAYLOADS[0]],
    ['/approvals', PAYLOADS[1]],
    [`/agents/${agent}`, PAYLOADS[2]],
    [`/agents/${agent}?seq=1`, PAYLOADS[1], 'Go back…'],
    [`/trees/${agent}?agent=${agent}&why=2`, `you: ${PAYLOADS[0]}`],
    [`/agents/${agent}?view=prompt`, PAYLOADS[0]],
    [`/agents/${agent}?view=requests`, '2.0M tokens left'],
    ['/schedules', PAYLOADS[1]],
    [`/schedules/${job}`, PAYLOADS[3]],
    ['/deliveries', 'file:'],
    ['/workers', `process ${process.pid}`],
    ['/usage', 'play/actor'],
  ];

  it('script payloads in every field are shown as text, and none executes', async () => {
    const { page, faults } = watch;
    for (const [path = '', text = '', opened] of pages()) {
      await page.goto(new URL(path, web.url).href);
      await page.locator('main').getByText(text).first().waitFor();
      if (opened !== undefined) {
        await page.getByRole('button', { name: opened }).first().click();
        await page.getByRole('dialog').getByRole('listitem').first().waitFor();
      }
      await page.evaluate(
        "document.querySelectorAll('main [aria-expanded=false], main summary').forEach((fold) => fold.click())",
      );
      await page.waitForTimeout(200);
      assert.equal(await page.evaluate('window.ran'), undefined, path);
      assert.equal(await page.locator('main script, main iframe, main img, main object').count(), 0, path);
      assert.deepEqual(faults, [], path);
    }
  });

  it('axe finds nothing serious, in light and dark, wide and narrow', async () => {
    const { page } = watch;
    const looks = [
      ['light', 1_200],
      ['dark', 360],
    ] as const;
    for (const [index, [path = '', text = '']] of pages().entries())
      for (const [colorScheme, width] of DEEP ? looks : looks.slice(index % 2, (index % 2) + 1)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.goto(new URL(path, web.url).href);
        await page.locator('main').getByText(text).first().waitFor();
        assert.deepEqual(await watch.violations(), [], `${path} ${colorScheme} ${width}`);
        const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok(Number(beyond) <= 0, `${path} is ${beyond} px wider than ${width}`);
      }
    await page.setViewportSize({ width: 1_200, height: 800 });
  });

  it('a browser whose clock is two hours ahead tells ages by the clock of the server', async () => {
    const context = await watch.browser.newContext();
    const page = await context.newPage();
    await page.clock.install({ time: Date.now() + 2 * 3_600_000 });
    await page.clock.resume();
    await signIn(page, web);
    await page.goto(new URL('/trees', web.url).href);
    await page.locator('td .when').first().waitFor();
    const ages = await page.locator('td .when .dim').allInnerTexts();
    assert.ok(ages.length > 0);
    assert.doesNotMatch(ages.join('\n'), /\dh/);
    await context.close();
  });

  it('every page is reached by keys, and ? lists them', async () => {
    const { page } = watch;
    await page.goto(new URL('/trees', web.url).href);
    await page.locator('main a[data-row]').first().waitFor();
    for (const [key, title] of [
      ['a', 'Approvals'],
      ['s', 'Schedules'],
      ['d', 'Deliveries'],
      ['w', 'Workers'],
      ['t', 'Trees'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    // Keys belong to the dialog until it has gone.
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' });
    await page.locator('main a[data-row]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    assert.equal(await page.evaluate('document.activeElement.matches("a[data-row]")'), true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/trees\/./);
  });

  it('a long conversation is scrolled with few elements', async () => {
    const { page } = watch;
    const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'many' } });
    const messages = async () => (await web.ask(`/v1/agents/${json.id}`)).json.messages as number;
    await until(async () => (await messages()) > LONG_CONVERSATION, 'a long conversation');
    await web.ask(`/v1/agents/${json.id}/interrupt`, { method: 'POST', body: {} });
    const list = page.getByRole('region', { name: 'Transcript' });
    const slow = await page.context().newCDPSession(page);
    for (const rate of [1, 6, 12]) {
      await slow.send('Emulation.setCPUThrottlingRate', { rate });
      await page.goto(new URL(`/agents/${json.id}`, web.url).href);
      await list.getByText('interrupted').first().waitFor();
      await list.press('Home');
      await list.getByText('many').first().waitFor();
      await list.press('PageDown');
      assert.ok((await page.locator('.item').count()) < 120);
      await list.press('End');
      await list.getByText('interrupted').first().waitFor();
    }
    await slow.detach();
    await page.goto(new URL(`/agents/${json.id}?seq=${LONG_CONVERSATION / 2}`, web.url).href);
    await page.locator(`.item[data-index="${LONG_CONVERSATION / 2 + 1}"]`).waitFor({ state: 'attached' });
  });

  it('letters and the results of waits are shown by who said what, without the frames and JSON that models read', async () => {
    const { page } = watch;
    const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'gather' } });
    await page.goto(new URL(`/agents/${json.id}`, web.url).href);
    const table = page.getByRole('table', { name: 'Agents waited for' });
    await page.getByRole('button', { name: /^wait / }).click();
    await table.getByText('received').waitFor();
    assert.match(await table.innerText(), /^helper\b[\s\S]*News: /);
    assert.equal(await table.locator('script, img, iframe').count(), 0);
    const later = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'gather later' } });
    await page.goto(new URL(`/agents/${later.json.id}`, web.url).href);
    const mail = page.getByRole('article', { name: /, mail$/ }).first();
    await mail.getByRole('link', { name: 'helper' }).waitFor();
    assert.match(await mail.innerText(), /from helper\s+News: /);
    assert.doesNotMatch(await mail.innerText(), /^--- [0-9a-f]{8}/m);
  });

  it('Markdown of a model is shown as what it means, and loads, runs and opens nothing', async () => {
    const { page } = watch;
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(web.url).origin) elsewhere.push(request.url());
    });
    const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt: MARKDOWN } });
    await page.goto(new URL(`/agents/${json.id}`, web.url).href);
    const answer = page.getByRole('article', { name: /, main$/ }).last();
    await answer.getByRole('heading', { name: 'Findings', level: 3 }).waitFor();
    assert.deepEqual(await answer.getByRole('row').allInnerTexts(), ['file\tfaults', 'src/db.ts & more\t2']);
    assert.equal(await answer.getByRole('img', { name: 'done' }).count(), 1);
    await answer.locator('.code-magenta', { hasText: 'export' }).waitFor();
    const links = await answer
      .getByRole('link')
      .evaluateAll((all) =>
        (all as unknown as { href: string; target: string; rel: string }[]).map(({ href, target, rel }) => [
          href,
          target,
          rel,
        ]),
      );
    const safely = ['_blank', 'noopener noreferrer nofollow'];
    const own = links.filter(([href]) => !String(href).includes(String(json.id)));
    assert.deepEqual(own, [
      ['https://example.org/docs', ...safely],
      ['https://evil.example/x.png', ...safely],
    ]);
    const text = await answer.innerText();
    for (const shown of [
      'the docs (example.org)',
      'picture: pixel (evil.example)',
      'run (javascript:alert(1))',
      '<img src="https://evil.example/y.png" onerror="alert(1)">',
    ])
      assert.ok(text.includes(shown), `${shown} in ${text}`);
    assert.equal(await answer.locator('img, iframe, script, form').count(), 0);
    await answer.getByRole('button', { name: 'Copy code' }).click();
    await answer.getByText(/^(Copied|Not allowed here)$/).waitFor();
    assert.deepEqual(elsewhere, []);
  });

  it('nothing went wrong on any page, nor in the server', () => {
    assert.deepEqual(watch.faults, []);
    assert.deepEqual(web.troubles, []);
  });
});
