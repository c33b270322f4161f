// Proves in a real browser, against `coppice serve`, that no page becomes wider than a phone by what agents are called, asked, say and fail with: words of 500
// characters, texts from right to left, wide and combined characters, Markdown that nests and lines that do not end.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../until.ts';
import { assertLooks, CHROMIUM } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const skip = CHROMIUM === null ? 'chromium is not installed' : false;
const WORD = 'abcdefghij'.repeat(50);
const RIGHT_TO_LEFT = 'مرحبا بالعالم، هذا اختبار טקסט בעברית';
const MIXED = `Datei ${RIGHT_TO_LEFT} (foo/bar.ts:12) \u202eevil\u202c end`;
const WIDE = `${'調査する全てのファイルを数えて'.repeat(8)} ${'👩‍👩‍👧‍👦👍🏽'.repeat(20)} ${'Z̸̛̮͖͓a̶͇̎'.repeat(30)}`;
const TABLE = ['', '-', 'cell text'].map((cell) => `|${`${cell}|`.repeat(40)}`).join('\n');
const MARKDOWN = `# ${WORD}\n\n${RIGHT_TO_LEFT}\n\n${TABLE}\n\n\`${WORD}\`\n\n[${WORD}](https://example.com/${WORD})\n\n\`\`\`\n${WORD}\n\`\`\``;
const RTL_LIST = `- ${RIGHT_TO_LEFT}\n\n- ${RIGHT_TO_LEFT}`;
const QUOTES = [
  `> ${RIGHT_TO_LEFT}\n>\n> ~~~\n> code\n> ~~~`,
  `> - ${RIGHT_TO_LEFT}`,
  RTL_LIST,
  `|${RIGHT_TO_LEFT}|b|\n|-|-|\n|a|b|`,
  '> a quotation',
  `- a list\n- ${RIGHT_TO_LEFT}`,
].join('\n\n');
const RULES = [
  {
    when: { root: true, user: 'ask', step: 0 },
    calls: [
      { name: 'fork', input: { name: WORD.slice(0, 64), prompt: `wants ${WORD}` } },
      { name: 'fork', input: { name: RIGHT_TO_LEFT, prompt: `wants ${MIXED}` } },
    ],
  },
  {
    when: { root: true, user: 'ask', step: 1 },
    calls: [{ name: 'wait', input: { timeout: 3_000, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  { when: { user: 'wants', step: 0 }, calls: [{ name: 'bash', input: { command: `: ${WORD} ${MIXED}` } }] },
  { when: { root: true, user: 'print' }, say: MARKDOWN },
  { when: { root: true, user: 'quotes' }, say: QUOTES },
  { when: { root: true, user: 'rows' }, say: `|a|b|\n|-|-|\n${'|a cell|another|\n'.repeat(5_000)}` },
  { when: { root: true, user: 'deep' }, say: '>'.repeat(200_000) },
];

describe('awkward data', { skip }, () => {
  let dashboard: Dashboard;
  const trees = new Map<string, string>();

  before(async () => {
    dashboard = await openDashboard(RULES, {
      agents: { defaults: { permissions: { ask: ['bash'] } } },
    });
    const { home, page, link } = dashboard;
    for (const task of ['ask', 'print', 'fail']) {
      const words = [`${task} ${WORD}`, '--model', 'scripted:rules.json', '--detach', '--json'];
      const { code, stdout, stderr } = await home.run(['run', ...words]);
      assert.equal(code, 0, stderr);
      trees.set(task, (JSON.parse(stdout) as { id: string }).id);
    }
    const wide = await home.run([
      'run',
      `print ${MIXED} ${WIDE}`,
      '--model',
      'scripted:rules.json',
      '--json',
    ]);
    assert.equal(wide.code, 0, wide.stderr);
    trees.set('wide', (JSON.parse(wide.stdout) as { id: string }).id);
    await until(async () => {
      const { stdout } = await home.run(['approvals', 'list', '--json']);
      return (JSON.parse(stdout) as { approvals: object[] }).approvals.length === 2;
    }, 'both children ask');
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
  });
  after(() => dashboard?.close());
  const run = async (task: string): Promise<string> => {
    const { code, stdout, stderr } = await dashboard.home.run([
      ...['run', task, '--model', 'scripted:rules.json', '--json'],
    ]);
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as { id: string }).id;
  };

  it('every page stays as wide as its window', async () => {
    const { page, faults } = dashboard;
    const of = (task: string) => trees.get(task) ?? '';
    const pages: readonly (readonly [path: string, shown: string])[] = [
      ['/trees', 'waiting for you'],
      ['/trees?show=failed', 'no rule of'],
      ...['ask', 'print', 'fail', 'wide'].flatMap((task) => [
        [
          `/trees/${of(task)}`,
          task === 'fail' ? 'Failed' : task === 'ask' ? 'wants bash' : 'Answer',
        ] as const,
        [`/agents/${of(task)}`, 'Transcript'] as const,
      ]),
      ...['messages', 'tree', 'files'].map(
        (tab) => [`/trees/${of('ask')}?tab=${tab}`, 'wants bash'] as const,
      ),
      [`/trees/${of('ask')}/live`, '3 agents'],
      ['/approvals', 'wants bash'],
      [`/search?q=${WORD.slice(0, 10)}`, 'messages'],
      ['/usage', 'tokens in'],
      [`/compare?a=${of('print')}&b=${of('wide')}`, 'Differs in'],
    ];
    for (const [path, shown] of pages) {
      await page.goto(new URL(path, dashboard.link).href);
      await page.locator('main').getByText(shown).first().waitFor();
      await assertLooks(dashboard, path.replaceAll(/\W+/g, '-'));
    }
    assert.deepEqual(faults, []);
  });

  it('what is too much to be formatted is folded, and says so', async () => {
    const { page } = dashboard;
    await page.goto(new URL(`/agents/${await run('deep')}`, dashboard.link).href);
    await page.getByText('Too long or too deeply nested to be formatted:').waitFor();
    assert.equal((await page.locator('.message.assistant pre').innerText()).length, 2_500);
    await page.goto(new URL(`/agents/${await run('rows')}`, dashboard.link).href);
    await page.getByText('The rest is too long to be formatted:').waitFor();
    await page.locator('.markdown tbody tr').nth(39).waitFor();
    assert.equal(await page.locator('.markdown tbody tr').count(), 40);
    await page
      .locator('.markdown')
      .getByRole('button', { name: /more lines$/ })
      .click();
    await page.locator('.markdown tbody tr').nth(1_000).waitFor();
    assert.equal((await page.locator('.message.assistant pre').innerText()).trim().split('\n').length, 12);
  });

  it('quotations, lists and tables from right to left have their borders, bullets and columns at the right, code within has not', async () => {
    const { page, link } = dashboard;
    await page.goto(new URL(`/agents/${await run('quotes')}`, link).href);
    const blocks = page.locator('.markdown > :is(blockquote, ul, section)');
    await blocks.nth(5).waitFor();
    const directions = await blocks.evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
    assert.deepEqual(directions, ['rtl', 'rtl', 'rtl', 'rtl', 'ltr', 'ltr']);
    assert.equal(
      await page.locator('.markdown .code').evaluate((one) => getComputedStyle(one).direction),
      'ltr',
    );
    const border = await blocks.first().evaluate((one) => getComputedStyle(one).borderRightWidth);
    assert.equal(border, '3px');
  });

  it('paragraphs from right to left stand at the right', async () => {
    const { page } = dashboard;
    await page.goto(new URL(`/agents/${trees.get('print')}`, dashboard.link).href);
    const direction = (text: string) =>
      page
        .locator('.markdown :is(p, h3)')
        .filter({ hasText: text })
        .first()
        .evaluate((block) => getComputedStyle(block).direction);
    assert.equal(await direction(RIGHT_TO_LEFT), 'rtl');
    assert.equal(await direction(WORD), 'ltr');
  });

  it('what a person killed is told without alarm, and the cockpit tells of calls in words', async () => {
    const { home, page, link } = dashboard;
    const ask = trees.get('ask') ?? '';
    await page.goto(new URL(`/trees/${ask}/live`, link).href);
    await page.locator('.tail-line.is-output').first().waitFor();
    assert.doesNotMatch((await page.locator('.tail-line').allInnerTexts()).join('\n'), /\{"|-[0-9a-f]{12}"/);
    await home.run(['kill', ask]);
    await page.goto(new URL('/trees', link).href);
    await page.getByText('stopped: killed by you').waitFor();
    assert.equal(await page.locator('.bad', { hasText: 'killed by you' }).count(), 0);
    for (const path of [`/trees/${ask}`, `/agents/${ask}`]) {
      await page.goto(new URL(path, link).href);
      await page.getByText('stopped: killed by you').waitFor();
      assert.equal(await page.locator('.trouble').count(), 0, path);
    }
  });
});
