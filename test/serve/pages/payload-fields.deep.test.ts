// Proves in a real browser that two hundred payloads in every field of every page of the dashboard are shown as text: names, models, profiles, labels, hosts,
// reasons, results, errors, tools, arguments, diffs, targets; expanded, scrolled, in dialogs, in the timeline, and in an exported tree. None executes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { makeHome } from '../../cli/run-cli.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { CHROMIUM, openPage, type PageWatch, signIn } from './browser.ts';
import { DISGUISED, PAYLOADS } from './payloads.ts';
import { poisonLedger } from './poisoned-ledger.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const ALL = DISGUISED.join('\n');
const DIFF = `--- a/${PAYLOADS[0]}\n+++ b/${PAYLOADS[1]}\n@@ -1 +1 @@ ${PAYLOADS[2]}\n-${PAYLOADS[3]}\n+${ALL.replaceAll('\n', '\n+')}`;
const ASKS = { cli: { allow: [], ask: ['ask'], deny: [] }, config: { allow: ['*'], ask: [], deny: [] } };

const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  input: z.object({ text: z.string() }),
  subject: ({ text }) => text,
  run: ({ text }) => text,
});

let web: WebStage;
let watch: PageWatch;
let file: string;
let root_id: string;
let failed_id: string;
let job_id: string;

before(async () => {
  if (skip !== false) return;
  file = join(temporaryFolder(), 'ledger.db');
  web = await setWebStage(
    ({ user, step, name }) => {
      if (user === 'fail') throw new Error(ALL);
      if (name !== 'main' || step > 1) return ALL;
      if (user === 'ask') return [['ask', { text: ALL }]];
      if (step === 1) return [['send', { to: 'kid', message: ALL }]];
      return [
        ...DISGUISED.slice(0, 40).map((text) => [text, { [text]: text }] as const),
        ['patch', { path: PAYLOADS[0], old: ALL, new: DIFF }],
        ['write', { path: PAYLOADS[1], content: ALL }],
        ['fork', { name: 'kid', prompt: ALL }],
      ];
    },
    { database: `sqlite:${file}`, tools: [ask], config: { permissions: ASKS } },
  );
  const start = async (prompt: string) =>
    String((await web.ask('/v1/trees', { method: 'POST', body: { prompt } })).json.id);
  root_id = await start(ALL);
  failed_id = await start('fail');
  await start('ask');
  const job = { name: 'job', task: ALL, every: '1h', deliver: ['file:/tmp/job'] };
  job_id = String((await web.ask('/v1/jobs', { method: 'POST', body: job })).json.id);
  await web.ask(`/v1/jobs/${job_id}/run`, { method: 'POST', body: {} });
  const { store, runtime } = web.stage;
  await until(async () => (await store.asks({ open: true })).length > 0, 'a call waits for a person');
  await until(
    async () => (await web.ask('/v1/deliveries')).json.deliveries.length > 0,
    'a result is delivered',
  );
  await until(async () => (await store.agent(failed_id))?.state.type === 'errored', 'a tree has failed');
  await runtime.settled(root_id);
  poisonLedger(file, root_id);
  watch = await openPage();
  await signIn(watch.page, web);
});
after(async () => {
  await watch?.browser.close();
  await web?.close();
});

/** Expands and scrolls everything in view, and asserts that no payload became more than text; returns the number of payloads that were readable. */
async function lookAt(what: string): Promise<number> {
  const seen = new Set<string>();
  const { page, faults } = watch;
  await page
    .getByText(/window\.ran/i)
    .first()
    .waitFor();
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const { text, ran, elements, links, is_end } = (await page.evaluate(LOOK)) as Look;
    for (const payload of DISGUISED) if (text.includes(payload.replace(/^\u202e/, ''))) seen.add(payload);
    assert.equal(ran, undefined, `${what}: a payload ran`);
    assert.deepEqual(elements, [], `${what}: markup of a payload became elements`);
    assert.deepEqual(links, [], `${what}: a payload became a link`);
    assert.deepEqual(faults, [], what);
    if (is_end) return seen.size;
    await page.waitForTimeout(50);
  }
  return seen.size;
}

interface Look {
  readonly text: string;
  readonly ran?: number;
  readonly elements: readonly string[];
  readonly links: readonly string[];
  readonly is_end: boolean;
}

const STEPS_MAX = 40;
/** Runs in the page: expands everything, returns what is shown, and scrolls on. */
const LOOK = `(() => {
  for (const fold of document.querySelectorAll('[aria-expanded=false], details:not([open]) > summary')) fold.click();
  const text = document.body.innerText;
  const outer = ({ outerHTML }) => outerHTML.slice(0, 200);
  const elements = [...document.querySelectorAll('#app :is(script, style, iframe, img, object, embed, base, meta, video, math, form [action], template, marquee)')].map(outer);
  const handlers = [...document.querySelectorAll('#app *')].filter(({ attributes }) => [...attributes].some(({ name }) => /^on|^srcdoc$/.test(name))).map(outer);
  const isForeign = (link) => !['http:', 'file:'].includes(new URL(link.getAttribute('href'), location.href).protocol);
  const links = [...document.querySelectorAll('a[href]')].filter(isForeign).map(outer);
  let is_end = true;
  for (const box of [document.scrollingElement, ...document.querySelectorAll('#app *')])
    if (box.scrollHeight > box.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(box).overflowY) || box === document.scrollingElement) {
      const before = box.scrollTop;
      box.scrollTop += box.clientHeight * 0.9;
      if (box.scrollTop > before) is_end = false;
    }
  return { text, ran: window.ran, elements: [...elements, ...handlers].slice(0, 3), links: links.slice(0, 3), is_end };
})()`;

it('lists, conversations, prompts, requests, facts and charts', { skip }, async () => {
  // Minimum payloads that each page must show; a name is one line, so payloads of several lines are not found in it.
  const pages: readonly (readonly [string, number])[] = [
    ['/trees', 190],
    [`/agents/${root_id}`, 190],
    [`/agents/${root_id}?view=prompt`, 190],
    [`/agents/${root_id}?view=requests`, 190],
    [`/agents/${failed_id}`, 190],
    ['/approvals', 190],
    ['/schedules', 190],
    [`/schedules/${job_id}`, 190],
    ['/deliveries', 190],
    ['/workers', 190],
    // This page shows only the largest of each kind.
    ['/usage', 40],
  ];
  for (const [path, floor] of pages) {
    await watch.page.goto(new URL(path, web.url).href);
    const seen = await lookAt(path);
    assert.ok(seen >= floor, `${path} shows ${seen} payloads`);
  }
});

it('the page of a tree: lanes, letters, what it used, the table, and what is selected', {
  skip,
}, async () => {
  const { page } = watch;
  await page.goto(new URL(`/trees/${root_id}`, web.url).href);
  await page.getByRole('tab').first().waitFor();
  const seen: number[] = [];
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click();
    seen.push(await lookAt(`/trees/${root_id}: ${await tab.innerText()}`));
  }
  assert.ok(Math.max(...seen) >= 80, String(seen));
  const picture = page.locator('.tree-picture');
  await picture.focus();
  for (const key of ['ArrowDown', 'ArrowRight', 'Enter']) {
    await picture.press(key);
    await lookAt(`/trees/${root_id}: ${key}`);
  }
});

it('dialogs that name what they are about', { skip }, async () => {
  const { page } = watch;
  for (const [path, button] of [
    [`/agents/${root_id}`, 'Kill…'],
    [`/schedules/${job_id}`, 'Remove…'],
    ['/workers', 'Drain…'],
    ['/approvals', 'Deny…'],
  ] as const) {
    await page.goto(new URL(path, web.url).href);
    await page.getByRole('button', { name: button }).first().click();
    await lookAt(`${path}: ${button}`);
  }
});

it('a tree that was exported', { skip }, async () => {
  const { page } = watch;
  const exported = join(temporaryFolder(), 'tree.html');
  const ledger = ['--database', `sqlite:${file}`];
  const { code, stderr } = await makeHome().run(['export', root_id, '--html', '--out', exported, ...ledger]);
  assert.equal(code, 0, stderr);
  for (const hash of ['#/', `#/trees/${root_id}`, `#/agents/${root_id}`]) {
    await page.goto('about:blank');
    await page.goto(pathToFileURL(exported).href + hash);
    const seen = await lookAt(`exported ${hash}`);
    assert.ok(seen >= 80, `exported ${hash} shows ${seen} payloads`);
  }
});
