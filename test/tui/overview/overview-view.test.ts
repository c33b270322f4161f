// Proves that trees are grouped by the reason why they need attention and sorted by urgency, and that a list of any length fits any screen.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TreeRow } from '../../../src/documents/shapes/agent-parts.ts';
import { STANDARD_SHORTCUTS } from '../../../src/tui/keys/shortcuts.ts';
import {
  filterAfter,
  filtered,
  moved,
  nextToRead,
  type OverviewState,
  peekOf,
  selectedTree,
} from '../../../src/tui/overview/overview-state.ts';
import { overviewRows, overviewView } from '../../../src/tui/overview/overview-view.ts';
import { ask, fits, HOSTILE, LOOKS, PLAIN, SPOKEN } from '../ui-fixture.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

function row(title: string, change: Partial<TreeRow> = {}): TreeRow {
  return {
    ...{
      root_id: `${title}-id`,
      name: 'main',
      title,
      status: 'idle',
      outcome: 'done',
      outcome_text: 'done',
      need: 'done',
      origin: 'root',
    },
    ...{
      model: 'scripted/x',
      profile: null,
      cwd: '/w/shop',
      doing: null,
      agents: 1,
      living: 1,
      working: 0,
    },
    ...{
      approvals: 0,
      asked_at: null,
      asked: null,
      tokens: 13_000,
      cost_usd: 0.12,
      error: null,
      unled: null,
    },
    ...{ started_at: ago(300), updated_at: ago(60), ended_at: null },
    ...change,
  };
}

const waits = (title: string, seconds: number, change: Partial<TreeRow> = {}): TreeRow =>
  row(title, {
    ...{
      need: 'approval',
      status: 'running',
      approvals: 1,
      asked_at: ago(seconds),
      asked: 'grep-all: bash rm -rf dist',
    },
    ...{ agents: 5, working: 3, ...change },
  });

const TREES = [
  row('old'),
  row('typos', { updated_at: ago(10) }),
  waits('younger', 20, { approvals: 3 }),
  waits('elder', 200),
  row('parser', { need: 'work', status: 'running', doing: 'bash npm test', working: 1, cost_usd: 0 }),
  row('broken', {
    need: 'trouble',
    outcome: 'failed',
    outcome_text: 'failed: auth: the key was refused',
    status: 'error',
    error: { kind: 'auth', message: 'the key was refused', retryable: false } as never,
  }),
];

function state(change: Partial<OverviewState> = {}): OverviewState {
  return {
    ...{
      trees: TREES,
      seen: { since: NOW - 30_000, trees: new Map() },
      limit: 50,
      filter: '',
      selected: null,
      peek: null,
    },
    ...{ leader: false, loaded: true, notice: null, now: NOW, ...change },
  };
}

const draw = (of: OverviewState, width = 100, height = 20, style = PLAIN) =>
  overviewView(of, width, height, style, STANDARD_SHORTCUTS).lines;

describe('the overview', () => {
  it('shows only the trees that have each word of a filter, and takes keys for it', () => {
    const keys = (...typed: string[]) =>
      typed.reduce((text, key) => filterAfter(text, key) ?? `${text}|`, '');
    assert.deepEqual(
      [keys('e', 'l'), keys('/', 'q'), keys('q'), keys(' '), keys('e', '\x1b'), keys('e', 'l', '\x7f')],
      ['el', ' q', '|', '|', '', 'e'],
    );
    assert.equal(keys('\x1b[200~two words\x1b[201~'), 'two words');
    const shown = filtered(state({ selected: 'old' }), 'SHOP er');
    assert.deepEqual([shown.selected, shown.limit], [null, 200]);
    const lines = draw(shown);
    assert.match(lines[0] ?? '', /^ Trees 6 · 2 waiting for you · 1 at work · filter: SHOP er/);
    assert.deepEqual(
      lines.slice(1, -1).map((text) => text.trim().split(' ').slice(0, 2).join(' ')),
      ['Waits for', '▸ elder', 'younger ', 'At work', 'parser '],
    );
    assert.ok(draw(filtered(state(), 'nowhere')).includes(' no matches'));
  });

  it('groups trees by need, the one that has waited longest first', () => {
    const rows = overviewRows(state(), 130, PLAIN).map(({ text }) =>
      text.replaceAll(/ {2,}/g, '  ').trimEnd(),
    );
    assert.deepEqual(rows, [
      ' Waits for you 2',
      ' ▸ elder  shop  ! waits for you 3m20 · grep-all: bash rm -rf dist  3/5  13k  $0.12  5m00',
      '  younger  shop  ! waits for you 20s (+2) · grep-all: bash rm -rf dist  3/5  13k  $0.12  5m00',
      ' Failed, or nobody leads it 1',
      '  broken  shop  ! error · failed: auth: the key was refused  1  13k  $0.12  5m00',
      ' Unread 1',
      '  typos  shop  ○ idle  1  13k  $0.12  5m00',
      ' At work 1',
      '  parser  shop  ◐ running · bash npm test  1/1  13k  5m00',
      ' Done 1',
      '  old  shop  ○ idle  1  13k  $0.12  5m00',
    ]);
    assert.match(
      draw(state())[0] ?? '',
      /^ Trees 6 · 2 waiting for you · 1 in trouble · 1 unread · 1 at work +\$0\.60 {2}78k$/,
    );
    assert.match(
      overviewRows(state(), 100, SPOKEN)[1]?.text ?? '',
      /elder, shop: waits for you 3m20 - grep-all: bash rm -rf dist, 3\/5 agents, 13k tokens/,
    );
  });

  it('counts as read what was seen up to its last change', () => {
    const read = (updated: number) =>
      draw(state({ seen: { since: NOW - 30_000, trees: new Map([['typos-id', NOW - updated]]) } })).join(
        '\n',
      );
    assert.match(read(11_000), /Unread 1/);
    assert.doesNotMatch(read(10_000), /Unread/);
  });

  it('keeps its selection on a tree that changes its group', () => {
    const down = moved(state(), 2);
    assert.equal(selectedTree(down)?.title, 'broken');
    const works = {
      ...down,
      trees: TREES.map((tree) => (tree.title === 'broken' ? { ...tree, need: 'work' as const } : tree)),
    };
    assert.equal(selectedTree(works)?.title, 'broken');
    assert.equal(selectedTree(moved(works, -1))?.title, 'parser');
  });

  it('goes to the next at which the person should look, from wherever it is', () => {
    const titles = ['younger', 'broken', 'typos', 'elder', 'younger'];
    let at = state();
    for (const title of titles) {
      at = nextToRead(at);
      assert.equal(selectedTree(at)?.title, title);
    }
    const answered = state({ trees: TREES.filter(({ need }) => need === 'work' || need === 'done') });
    assert.equal(selectedTree(nextToRead(moved(answered, 1)))?.title, 'typos');
  });

  it('lists more at its end', () => {
    const many = Array.from({ length: 50 }, (_, index) => row(`tree-${index}`));
    assert.equal(moved(state({ trees: many }), 48).limit, 50);
    assert.equal(moved(state({ trees: many }), 49).limit, 100);
    assert.equal(moved(state(), 49).limit, 50, 'there are no more');
    const lines = draw(moved(state({ trees: many }), 40), 100, 12);
    assert.ok(lines.length <= 12 && lines.some((line) => line.startsWith(' ▸ tree-40 ')));
  });

  it('shows the question of the selected tree, or what was said there last', () => {
    const lineages = new Map([['a', ['main', 'grep-all']]]);
    const asked = peekOf('main', { said: 'I grep.', asks: [ask('a', 'grep-all')], lineages }, null, NOW);
    const elder = { ...state().trees[3], root_id: 'main' } as TreeRow;
    const peeked = draw(state({ trees: [elder], peek: asked })).join('\n');
    assert.match(peeked, /── elder {2}\/w\/shop {2}main ─+\n┌ 1 of 1 ─ main › grep-all wants: bash/);
    assert.match(peeked, /rm -rf dist/);
    const unled = { why: 'no process leads it', next: 'resume it with coppice resume' };
    const left = draw(state({ trees: [{ ...elder, unled }], peek: asked })).join('\n');
    assert.match(left, /main ─+\n no process leads it: resume it with coppice resume\n┌ 1 of 1/);
    const said = peekOf('main', { said: 'One.\n\nFound **3** leaks.', asks: [], lineages }, asked, NOW);
    assert.match(draw(state({ trees: [elder], peek: said })).join('\n'), /─\n One\.\n\n Found 3 leaks\.\n/);
  });

  it('keeps a question that is visible as long visible as it was, and what is being typed', () => {
    const read = { said: '', asks: [ask('a', 'main', { root_id: 'main' })], lineages: new Map() };
    const before = peekOf('main', read, null, NOW);
    const typing = {
      ...before,
      window: { ...before.window, question: { ...before.window.question, saying: 'no' } as never },
    };
    const later = peekOf('main', read, typing, NOW + 5_000);
    assert.equal(later.window.question?.since, NOW);
    assert.equal(later.window.question?.saying, 'no');
    const other = peekOf(
      'main',
      { ...read, asks: [ask('b', 'main', { root_id: 'main' })] },
      typing,
      NOW + 5_000,
    );
    assert.equal(other.window.question?.since, NOW + 5_000);
  });

  it('fits any width and height in any style, whatever trees are called', () => {
    const hostile = { title: HOSTILE, cwd: HOSTILE, asked: HOSTILE, doing: HOSTILE };
    const trees = TREES.map((tree) => ({ ...tree, ...hostile }));
    const peek = peekOf(
      'elder-id',
      {
        said: HOSTILE,
        asks: [ask('a', 'x', { root_id: 'elder-id', subject: HOSTILE })],
        lineages: new Map([['a', [HOSTILE, HOSTILE]]]),
      },
      null,
      NOW,
    );
    for (const style of Object.values(LOOKS))
      for (const width of [10, 30, 59, 80, 140])
        for (const height of [1, 3, 8, 30])
          for (const one of [
            state({ trees }),
            state({ trees, peek }),
            state({ trees, peek: { ...peek, window: { ...peek.window, question: null } } }),
          ]) {
            const lines = draw(one, width, height, style);
            fits(lines, width);
            assert.ok(lines.length <= height, `${lines.length} rows of ${height}`);
          }
  });
});
