// Proves how questions and lists look: approvals, kills, the agents, the keys, the first run.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choiceLines, matching, typedLine } from '../../../src/cli/first-run/dialogue-view.ts';
import { FIRST_CHOICES, NO_MODEL } from '../../../src/cli/first-run/prepare-model.ts';
import { moveSelection } from '../../../src/tui/state/agents/filtered-agents.ts';
import type { Picker } from '../../../src/tui/state/picker.ts';
import type { Overlay, UiState } from '../../../src/tui/state/ui-state.ts';
import { agentsOverlay } from '../../../src/tui/views/agents-overlay.ts';
import { approvalBox } from '../../../src/tui/views/approvals/approval-box.ts';
import { confirmationLines } from '../../../src/tui/views/confirmation-lines.ts';
import { frameView } from '../../../src/tui/views/frame-view.ts';
import { keysHelp } from '../../../src/tui/views/lists/keys-help.ts';
import {
  AGENTS,
  ASCII,
  ASKED,
  after,
  agent,
  ask,
  grandchild,
  KILLED,
  PLAIN,
  SPOKEN,
  seen,
  T0,
  THINKING,
  tree,
} from '../ui-fixture.ts';

const MODELS: Picker = {
  ...({ type: 'picker', heading: 'Models', filter: '', selected: null, other: null } as const),
  ...{ choose: () => undefined, empty: '', verb: 'use', command: '/model NAME', effort: 'medium' },
  rows: ['a', 'b', 'c'].map((id) => ({ id, text: `model-${id}`, figures: [] })),
};

const frameOf = (overlay: Overlay, width: number) =>
  frameView(after(grandchild(), { type: 'overlay', overlay }), {
    ...{ width, height: 12, style: PLAIN, input: { lines: ['> '], cursor: null }, flags: [] },
    keys: [{ group: 'Keys', action: 'does it', chord: 'Ctrl-X', leader: '', slash: '/it' }],
  }).lines;

it('a list that hides the questions names the first of them', () => {
  const told = ' Esc · ! 2 ask, first grep-all: bash rm -rf dist';
  assert.equal(frameOf(MODELS, 60).at(-1), told);
  assert.equal(frameOf({ type: 'keys' }, 60).at(-1), told);
});

it('the effort is shown beside the models, where there is little room only the chosen one', () => {
  assert.match(frameOf(MODELS, 60)[0] ?? '', /^ Models 3 · filter: {4}effort off low \[medium\] high/);
  assert.match(frameOf(MODELS, 39)[0] ?? '', /^ Models 3 · \[medium\] · filter:/);
});

describe('an approval', () => {
  it('shows who asks, from where, and the whole call', () => {
    assert.deepEqual(approvalBox(grandchild(), ASKED, 58, 20, PLAIN), [
      '┌ 1 of 2 ─ main › file-reader › grep-all wants: bash ────┐',
      '│ rm -rf dist                                            │',
      '│ cwd ~/proj · rule: ask(bash:rm *)                      │',
      '│ y once   s from now on…   n deny   m deny+say          │',
      '│ Y all like it (2)   A narrow rule   v view   Esc later │',
      '└────────────────────────────────────────────────────────┘',
    ]);
  });

  it('is of ASCII alone, with a straight edge, where nothing else can be shown', () => {
    const draft = { ...grandchild(), draft: 'not yet' };
    for (const width of [34, 58, 90])
      for (const state of [grandchild(), draft, { ...grandchild(), question: { ...ASKED, since: 0 } }]) {
        const rows = approvalBox(state, ASKED, width, 20, ASCII);
        for (const row of rows) assert.match(row, /^[ -~]*$/);
        assert.deepEqual([...new Set(rows.map((row) => row.length))], [width], rows.join('\n'));
      }
  });

  it('shows the rule in full before it is granted, and all scopes or the chosen one', () => {
    const asked = grandchild({ subject: 'git status -s', subject_kind: 'command' });
    const shown = after({ ...asked, question: ASKED }, { type: 'grant', change: 'next_scope' });
    const drawn = (width: number, style = PLAIN) =>
      approvalBox(shown, shown.question ?? ASKED, width, 12, style).join('\n');
    assert.match(drawn(80), /allow from now on: bash:git status \*\s/);
    assert.match(drawn(80), /for: {2}these, once {3}this turn {2}\[this agent\] {2}this tree {3}for good/);
    assert.match(drawn(36), /bash:git +│\n│ status \*/);
    assert.match(drawn(36), /│ for: \[this agent\] +│/);
    assert.match(drawn(80, ASCII), /\^ v narrower, wider/);
    assert.doesNotMatch(drawn(80), /can run other programs/);
  });

  it('Y shows the other open questions that are like this one before it allows them, and only those', () => {
    const command = (id: string, subject: string) => {
      const input = JSON.stringify({ command: subject });
      return ask(id, 'file-reader', { subject, subject_kind: 'command', input });
    };
    const asks = [command('1', 'git status -s'), command('2', 'git status'), command('3', 'git push')];
    const asked = after(grandchild(), { type: 'asks', asks });
    const shown = after({ ...asked, question: ASKED }, { type: 'grant', change: 'alike' });
    const later = after(shown, { type: 'asks', asks: [...asks, command('4', 'git status -v')] });
    const box = approvalBox(later, later.question ?? ASKED, 90, 14, PLAIN).join('\n');
    assert.match(box, /allow once, with 1 more that waits: bash:git status \*/);
    assert.match(box, /file-reader {2}git status +│/);
    assert.doesNotMatch(box, /git push|git status -v/);
    assert.match(box, /y allow them/);
    const narrow = after({ ...asked, question: ASKED }, { type: 'grant', change: 'narrow' });
    assert.match(
      approvalBox(narrow, narrow.question ?? ASKED, 90, 14, PLAIN).join('\n'),
      /allow from now on: bash:git status -s +│\n.*\[this tree\]/,
    );
  });

  it('says of a rule for all calls of a program that the program can run others', () => {
    const asked = grandchild({ subject: 'git status -s', subject_kind: 'command' });
    const begun = after({ ...asked, question: ASKED }, { type: 'grant', change: 'next_scope' });
    const wide = after(begun, { type: 'grant', change: 'wider' });
    const drawn = approvalBox(wide, wide.question ?? ASKED, 80, 14, PLAIN)
      .join(' ')
      .replaceAll(/[│\s]+/g, ' ');
    assert.match(
      drawn,
      /bash:git \*: git can run other programs; calls in which it does still ask, unless the rule/,
    );
  });

  it('says how long the question has waited, from a minute on', () => {
    const state = grandchild();
    const later = { ...state, now: (state.asks[0]?.asked_at ?? 0) + 185_000 };
    assert.match(approvalBox(later, ASKED, 70, 20, PLAIN)[2] ?? '', /rule: ask\(bash:rm \*\) · waiting 3m05/);
    assert.doesNotMatch(approvalBox(later, ASKED, 70, 20, SPOKEN).join(), /waiting/);
  });

  it('never truncates a command without a mark', () => {
    const command = Array.from({ length: 30 }, (_, index) => `step ${index}`).join('\n');
    const long = grandchild({ subject: command, input: JSON.stringify({ command }) });
    const all = approvalBox(long, ASKED, 58, 50, PLAIN);
    assert.equal(all.length, 35);
    const low = approvalBox(long, ASKED, 58, 10, PLAIN);
    assert.equal(low.length, 10);
    assert.match(low[3] ?? '', /… \+26 more lines: PgDn shows them/);
    assert.match(low[5] ?? '', /step 29/);
    assert.match(low.join('\n'), /y once/);
    const pages = Array.from({ length: 8 }, (_, page) =>
      approvalBox(long, { ...ASKED, page: page + 1 }, 58, 10, PLAIN).join('\n'),
    );
    for (let step = 0; step < 30; step += 1)
      assert.match(pages.join('\n'), new RegExp(`step ${step} `), 'every line is on a page');
    assert.match(pages[7] ?? '', /27-30 of 30 lines: PgUp, PgDn/);
    const around = (page: number) => approvalBox(long, { ...ASKED, page }, 58, 10, PLAIN).join('\n');
    assert.equal(around(9), low.join('\n'), 'behind the last one comes the first view again');
    assert.equal(around(-1), pages[7]);
    assert.deepEqual(approvalBox(long, { ...ASKED, page: 3 }, 58, 50, PLAIN), all, 'it all fits');
  });

  it('shows the content that would be written, not only the path', () => {
    const input = '{"path":"./x.txt","content":"one\\ntwo\\n"}';
    assert.deepEqual(
      approvalBox(grandchild({ tool: 'write', subject: 'x.txt', input }), ASKED, 58, 20, PLAIN).slice(1, 5),
      ['./x.txt', 'content:', 'one', 'two'].map((text) => `│ ${text.padEnd(54)} │`),
    );
  });

  it('keeps the agent, the call and the keys on a small terminal', () => {
    assert.deepEqual(approvalBox(grandchild(), ASKED, 40, 6, PLAIN), [
      '┌ 1 of 2 ─ grep-all wants: bash ───────┐',
      '│ rm -rf dist                          │',
      '│ cwd ~/proj · rule: ask(bash:rm *)    │',
      '│ y once  s rule  n deny  m say        │',
      '│ Y all  A narrow  v view  Esc later   │',
      '└──────────────────────────────────────┘',
    ]);
    assert.deepEqual(approvalBox(grandchild(), ASKED, 20, 4, PLAIN), [
      'bash: grep-all 1 of…',
      'rm -rf dist',
      'y yes n no s m v Esc',
    ]);
  });

  it('takes a reason for a denial', () => {
    const saying = { ...ASKED, saying: 'use npm run clean' };
    assert.match(
      approvalBox(grandchild(), saying, 60, 20, PLAIN).join('\n'),
      /why not: use npm run clean .*\n.*Enter denies/,
    );
  });

  it('shows the arguments when the call has no subject', () => {
    assert.match(
      approvalBox(grandchild({ tool: 'dig', subject: '', input: '{"depth":3}' }), ASKED, 60, 20, PLAIN)[1] ??
        '',
      /depth: 3/,
    );
  });
});

describe('the question before a kill', () => {
  const kill = (...descendants: string[]): Extract<Overlay, { type: 'kill' }> => ({
    type: 'kill',
    agent_ids: ['file-reader'],
    descendants,
  });

  it('says how many descendants would be killed', () => {
    const text = (overlay: Extract<Overlay, { type: 'kill' | 'quit' }>): string =>
      confirmationLines(grandchild(), overlay, 200, 5, PLAIN).join('\n');
    assert.equal(text(kill()), 'Kill file-reader? It stays visitable until /reap.  [y] kill  [n/Esc] keep');
    assert.equal(
      text(kill('grep-all')),
      'Kill file-reader and 1 descendant (grep-all)? Both stay visitable until /reap.  [y] kill  [n/Esc] keep',
    );
    assert.match(text(kill('a', 'b', 'c', 'd')), /and 4 descendants \(a, b, c, \+1 more\)\? All 5 stay/);
    const many = { ...kill(), agent_ids: ['a', 'b', 'c', 'd'], only_idle: true as const };
    assert.match(text(many), /^Kill 4 idle agents \(a, b, c, \+1 more\)\? All 4 stay/);
    const several = text({ ...kill('grep-all'), agent_ids: ['file-reader', 'test-runner'] });
    assert.match(several, /^Kill file-reader, test-runner and 1 descendant \(grep-all\)\? All 3 stay/);
    let working = 2;
    const quit = { type: 'quit', working: () => working } as const;
    assert.equal(text(quit), 'quit? 2 agents running: [d]etach [k]ill all [n]o');
    working = 0;
    assert.equal(text(quit), 'quit? no agent running: [d] quit  [n]o');
  });

  it('keeps its keys on a small terminal', () => {
    assert.match(
      confirmationLines(grandchild(), kill('grep-all'), 20, 2, PLAIN).join('\n'),
      /^\[y\]\/\[n\] kill 2/,
    );
  });
});

describe('the list of agents', () => {
  it('shows a tree with what each agent is doing', () => {
    const { lines, cursor } = agentsOverlay(grandchild(), AGENTS, 72, 12, PLAIN);
    assert.deepEqual(lines, [
      ' Agents 5 · filter:                                          $0.04  42k',
      ' ▸ main              ◔ waits for file-reader                  4k    12s',
      '   ├1 file-reader    ! waits for you 12s · ba…               13k    11s',
      '   │ └4 grep-all     ! waits for you 12s · ba…                      11s',
      '   ├2 code-analyzer  ○ idle "found 3 leaks"                  11k     0s',
      '   └3 test-runner    ○ idle                                  14k     0s',
      ' Enter open · Space peek · s send · k kill · i kill idle · r reap · 1-9…',
    ]);
    assert.deepEqual(cursor, { row: 0, column: 20 });
  });

  it('tells model and effort of agents that differ from the main one, before what they do', () => {
    const { config } = agent('x', null);
    const other = { config: { ...config, model: 'other/m', thinking: 'high' as const }, state: THINKING };
    const state = after(grandchild(), seen(agent('test-runner', 'main', other)));
    const rowIn = (width: number) =>
      agentsOverlay(state, AGENTS, width, 12, PLAIN).lines.find((row) => row.includes('test-runner')) ?? '';
    assert.match(rowIn(100), /test-runner +◐ other\/m · thinking high · /);
    assert.doesNotMatch(rowIn(71), /other/);
    assert.doesNotMatch(agentsOverlay(grandchild(), AGENTS, 100, 12, PLAIN).lines.join('\n'), /play\//);
  });

  it('numbers the agents beyond the slots', () => {
    const more = Array.from({ length: 12 }, (_, index) =>
      seen(agent(`more-${index}`, 'main', { created_at: T0 + 9 + index })),
    );
    const { lines } = agentsOverlay(after(grandchild(), ...more), AGENTS, 72, 30, PLAIN);
    assert.match(lines.join('\n'), /├9 more-4 .*\n.*├10 more-5 .*\n(?:.*\n)*.*└16 more-11 /);
  });

  it('keeps the order of rows when states change', () => {
    const order = (state: UiState): (string | undefined)[] =>
      agentsOverlay(state, AGENTS, 72, 12, PLAIN).lines.map(
        (line) => /\d [\w-]+/.exec(line.slice(0, 22))?.[0],
      );
    const changed = after(
      grandchild(),
      seen(agent('test-runner', 'main', { state: THINKING, created_at: T0 + 3 })),
      seen(agent('file-reader', 'main', { state: KILLED, created_at: T0 + 1 })),
    );
    assert.deepEqual(order(changed), order(grandchild()));
    assert.match(agentsOverlay(changed, AGENTS, 72, 12, ASCII).lines[4] ?? '', /2 code-analyzer/);
  });

  it('filters agents and keeps the ancestors of matches', () => {
    const { lines } = agentsOverlay(grandchild(), { ...AGENTS, filter: 'GREP' }, 72, 12, PLAIN);
    assert.deepEqual(
      lines.slice(1, -1).map((line) => line.slice(3, 18).trimEnd()),
      ['main', '└1 file-reader', '  └4 grep-all'],
    );
    assert.match(
      agentsOverlay(grandchild(), { ...AGENTS, filter: 'zzz' }, 72, 12, PLAIN).lines[1] ?? '',
      /no agent matches/,
    );
  });

  it('moves the selection within the list', () => {
    const at = (selected: string | null, by: number): string | null =>
      moveSelection(grandchild(), { ...AGENTS, selected }, by, PLAIN).selected;
    assert.equal(at(null, 1), 'file-reader');
    assert.equal(at('file-reader', 1), 'grep-all');
    assert.equal(at('file-reader', 99), 'test-runner');
    assert.equal(at('file-reader', -99), 'main');
    assert.equal(at('gone', 0), 'main');
  });

  it('scrolls with the selection through two hundred agents', () => {
    const many = Array.from({ length: 200 }, (_, index) =>
      agent(`worker-${index}`, 'main', { created_at: T0 + index + 1 }),
    );
    const state = tree([agent('main', null), ...many]);
    for (const selected of ['main', 'worker-3', 'worker-100', 'worker-199']) {
      const { lines } = agentsOverlay(state, { ...AGENTS, selected }, 80, 24, PLAIN);
      assert.equal(lines.length, 24);
      assert.equal(lines.filter((line) => line.startsWith(' ▸') && line.includes(selected)).length, 1);
    }
    const end = agentsOverlay(state, { ...AGENTS, selected: 'worker-199' }, 80, 24, PLAIN).lines;
    assert.match(end.at(-1) ?? '', /^ 180-201 of 201 /);
  });
});

describe('keys', () => {
  const keys = [
    { group: 'Go to', action: 'parent / child', chord: 'Ctrl+↑ / ↓', leader: '↑ / ↓', slash: '/agent' },
    { group: 'Agents', action: 'kill the agent in view', chord: '', leader: 'k', slash: '/kill' },
    {
      group: 'Agents',
      action: 'wait for all of these, '.repeat(3).trim(),
      chord: '',
      leader: '',
      slash: '/wait',
    },
  ];
  const help = (width: number, height: number, view = {}, style = PLAIN) =>
    keysHelp(keys, view, 'Ctrl-X', width, height, style).lines;

  it('are grouped, in as many columns as fit, with nothing cut off', () => {
    assert.deepEqual(help(80, 10), [
      ' Keys and commands · filter: ',
      ' Go to',
      '  Ctrl+↑ / ↓  Ctrl-X ↑ / ↓  /agent  parent / child',
      ' Agents',
      '  Ctrl-X k  /kill                   kill the agent in view',
      '  /wait                             wait for all of these, wait for all of',
      '                                    these, wait for all of these,',
      ' type to filter · Esc',
    ]);
    const wide = help(120, 6);
    assert.match(wide[1] ?? '', /^ Go to {50,} {2}\/wait +wait for all of these,$/);
    assert.equal(wide.length, 6);
    assert.deepEqual(help(40, 10).slice(1, 4), [
      ' Go to',
      '  parent / child: Ctrl+↑ / ↓, Ctrl-X ↑',
      '    / ↓, /agent',
    ]);
    assert.match(
      help(80, 10, {}, SPOKEN).join('\n'),
      /parent \/ child: Ctrl\+Up \/ Down, Ctrl-X Up \/ Down, \/agent/,
    );
  });

  it('are filtered by every typed word, of keys, commands, effects and groups, and scroll', () => {
    assert.deepEqual(help(80, 10, { filter: 'agents kill' }).slice(1, -1), [
      ' Agents',
      '  Ctrl-X k  /kill  kill the agent in view',
    ]);
    assert.deepEqual(help(80, 10, { filter: 'nothing' })[1], '   no matches');
    assert.match(help(80, 5)[4] ?? '', /^ 1-3 of 6 · arrows and pages scroll · type to filter · Esc$/);
    assert.match(help(80, 5, { from: 99 })[4] ?? '', /^ 4-6 of 6 /, 'it ends where the last row is shown');
  });
});

it('offers three ways to begin without a key', () => {
  const all = { title: NO_MODEL, choices: FIRST_CHOICES, shown: [0, 1, 2], filter: '', rows: 20 };
  assert.deepEqual(choiceLines({ ...all, selected: 0 }, 80, PLAIN), [
    'No model key found. Nothing was sent anywhere.',
    '▸ 1  Watch a 20-second demo   (offline, scripted agents, real tools)',
    '  2  Add a key                (ANTHROPIC_API_KEY, OPENAI_API_KEY…)',
    '  3  Use a local model        (OpenAI-compatible URL)',
  ]);
  assert.match(choiceLines({ ...all, selected: 1 }, 80, ASCII)[2] ?? '', /^> 2 {2}Add a key .*KEY\.\.\.\)$/);
});

it('a long list of choices shows those around the selected one that hold every typed word', () => {
  const choices = Array.from({ length: 40 }, (_, index) => ({ text: `qwen ${index + 1} coder` }));
  const shown = matching(choices, 'coder 3');
  assert.deepEqual(shown.slice(0, 3), [2, 12, 22]);
  assert.deepEqual(
    choiceLines(
      { title: 'Which model?', choices, shown, selected: 5, filter: 'coder 3', rows: 3 },
      40,
      PLAIN,
    ),
    [
      'Which model?',
      '  31  qwen 31 coder',
      '▸ 32  qwen 32 coder',
      '  33  qwen 33 coder',
      '  +10 more · filter: coder 3',
    ],
  );
});

it('of a hidden line only the length is shown', () => {
  assert.deepEqual(typedLine('Key?', 'sk-secret', true, 40, PLAIN), {
    lines: ['Key?', '> 9 characters, hidden', 'Enter continues · Esc goes back'],
    cursor: { row: 1, column: 22 },
  });
});
