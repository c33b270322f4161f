// Proves that an exported tree is one page that opens without a server, shows all its agents and what they wrote, and executes none of it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { CHROMIUM } from '../../serve/pages/browser.ts';
import { makeHome } from '../run-cli.ts';

const MARK = 'window.hit=1';
/** Texts that would execute if treated as more than text. */
const PAYLOADS = [
  `<script>${MARK}</script>`,
  `</script><script>${MARK}</script>`,
  `</SCRIPT ><script>${MARK}</script>`,
  `<!--<script>`,
  `--><script>${MARK}</script>`,
  `]]><script>${MARK}</script>`,
  `</title><script>${MARK}</script>`,
  `</style><script>${MARK}</script>`,
  `<img src=x onerror=${MARK}>`,
  `<svg onload=${MARK}>`,
  `<svg><script>${MARK}</script></svg>`,
  `<iframe srcdoc="<script>parent.${MARK}</script>">`,
  `<iframe src="javascript:parent.${MARK}">`,
  `<body onload=${MARK}>`,
  `<details open ontoggle=${MARK}>`,
  `<input autofocus onfocus=${MARK}>`,
  `<math><mtext></math><img src=x onerror=${MARK}>`,
  `<a href="javascript:${MARK}">x</a>`,
  `[x](javascript:${MARK})`,
  `\u2028';${MARK};//"\\u003cscript>${MARK}</script>`,
];

const skip = CHROMIUM === null ? 'chromium is not installed' : false;

let browser: Browser;
before(async () => {
  if (CHROMIUM !== null)
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
});
after(() => browser?.close());

async function exported(said: string): Promise<{ readonly page: Page; readonly requests: string[] }> {
  const home = makeHome();
  const rules = [
    {
      when: { root: true, step: 0 },
      calls: [{ name: 'fork', input: { name: 'kid', prompt: `be ${said}` } }],
    },
    {
      when: { root: false, step: 0 },
      calls: [{ name: 'send', input: { to: '{{parent_id}}', message: said } }],
    },
    { say: `${said} from {{agent.name}}` },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const run = await home.run(['run', '--model', 'scripted:rules.json', said]);
  assert.equal(run.code, 0, run.stderr);
  const file = join(home.folder, 'tree.html');
  const written = await home.run(['export', '--html', '--out', file]);
  assert.equal(written.code, 0, written.stderr);
  const page = await browser.newPage();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, requests };
}

it('shows agents, mail and transcripts, from the file alone; a link leads to each page', {
  skip,
}, async () => {
  const { page, requests } = await exported('hello there');
  await page.locator('main canvas, main svg').first().waitFor();
  await page.getByRole('article', { name: 'Answer' }).getByText('hello there from main').waitFor();
  await page.getByRole('tab', { name: 'Messages' }).click();
  await page.locator('.letter text', { hasText: 'hello there' }).first().waitFor();
  await page.locator('.lane-name').getByRole('button', { name: 'kid' }).click();
  const kid = page.getByRole('complementary', { name: 'Selected' }).getByRole('link', { name: 'kid' });
  // The address still follows what was chosen: Back comes to it.
  await kid.click();
  await page.getByText('hello there from kid').first().waitFor();
  assert.match(page.url(), /tree\.html#\/agents\/[0-9a-f-]{36}$/);
  await page.reload();
  await page.getByText('hello there from kid').first().waitFor();
  assert.ok((await page.getByText('be hello there').count()) > 0, 'what it inherited and was told');
  await page.goBack();
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    kid.click({ modifiers: ['ControlOrMeta'] }),
  ]);
  await tab.getByText('hello there from kid').first().waitFor();
  await tab.close();
  await page.getByRole('tab', { name: 'Tree' }).click();
  await page.waitForURL(/tree\.html#\/trees\/.*tab=tree/);
  await page.reload();
  await page.getByRole('tab', { name: 'Tree', selected: true }).waitFor();
  assert.deepEqual([...new Set(requests.map((url) => url.replace(/#.*/, '')))].length, 1, String(requests));
  await page.close();
});

it('has the task list in each of its forms', { skip }, async () => {
  const home = makeHome();
  const call = (name: string, input: object) => ({ name, input });
  const rules = [
    {
      when: { step: 0 },
      calls: [
        call('task_add', { title: '# read <b>it</b>' }),
        call('task_add', { title: 'write', depends_on: [1] }),
        call('task_claim', {}),
        call('task_done', { number: 1, result: 'two\n# lines' }),
      ],
    },
    { say: 'done' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const run = await home.run(['run', '--model', 'scripted:rules.json', '--toolset', 'tasks', 'go']);
  assert.equal(run.code, 0, run.stderr);
  const { root_id, documents } = JSON.parse((await home.run(['export', '--json'])).stdout);
  assert.deepEqual(
    documents[`/v1/trees/${root_id}/tasks`].tasks.map(({ state }: { state: string }) => state),
    ['done', 'open'],
  );
  const { stdout } = await home.run(['export', '--markdown']);
  assert.match(
    stdout,
    /^# go\n\n## Tasks\n\n1\. done by main: # read <b>it<\/b>\n {3}> two\n {3}> # lines\n2\. open, after 1: write\n\n## main/,
  );
  const file = join(home.folder, 'tree.html');
  await home.run(['export', '--html', '--out', file]);
  const page = await browser.newPage();
  await page.goto(`${pathToFileURL(file).href}#/trees/${root_id}?tab=tasks`);
  await page.getByRole('tab', { name: 'Tasks', selected: true }).waitFor();
  const table = page.getByRole('table', { name: 'Tasks' });
  assert.match(await table.innerText(), /# read <b>it<\/b>[\s\S]*two[\s\S]*write\s+after 1/);
  await table.getByRole('link', { name: 'main' }).click();
  await page.waitForURL(/#\/agents\//);
  await page.close();
});

it('nothing that agents or people wrote is run', { skip }, async () => {
  const { page } = await exported(PAYLOADS.join('\n'));
  const hit = () => page.evaluate(() => (window as { hit?: number }).hit ?? 0);
  assert.equal(await hit(), 0);
  const text = await page.locator('body').innerText();
  for (const payload of PAYLOADS) assert.ok(text.includes(payload.slice(0, 20).trim()), payload);
  for (const name of ['main', 'kid']) {
    await page.goto(`${page.url().replace(/#.*/, '')}#/`);
    await page.locator('.lane-name').getByRole('button', { name }).click();
    await page.getByRole('complementary', { name: 'Selected' }).getByRole('link', { name }).click();
    await page.getByText(`from ${name}`).first().waitFor();
    assert.equal(await hit(), 0);
  }
  assert.equal(await page.locator('#app script, #app iframe, #app [onload], #app [onerror]').count(), 0);
  await page.close();
});

it('--json has the documents, and without a form it says which there are', async () => {
  const home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ say: 'ok' }] }));
  await home.run(['run', '--model', 'scripted:rules.json', 'go']);
  const { root_id, title, documents } = JSON.parse((await home.run(['export', '--json'])).stdout);
  assert.equal(title, 'go');
  assert.equal(documents[`/v1/agents/${root_id}/messages`].messages.length, 2);
  const plain = await home.run(['export']);
  assert.equal(plain.code, 2);
  assert.match(plain.stderr, /--html --out tree\.html, --markdown, or --json/);
});
