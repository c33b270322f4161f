// Proves the lines around the input: navigation, spinner, hint, capture, questions, lists; each at any width and in any look.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentState } from '../../src/core/state.ts';
import { moveSelection } from '../../src/tui/agent-rows.ts';
import type { Look } from '../../src/tui/look.ts';
import type { Overlay, UiState } from '../../src/tui/ui-state.ts';
import { agentsOverlay } from '../../src/tui/views/agents-overlay.ts';
import { approvalBox } from '../../src/tui/views/approval-box.ts';
import { captureBar } from '../../src/tui/views/capture-bar.ts';
import { firstRun } from '../../src/tui/views/first-run.ts';
import { hintLine } from '../../src/tui/views/hint-line.ts';
import { keysHelp } from '../../src/tui/views/keys-help.ts';
import { navigationLine } from '../../src/tui/views/navigation-line.ts';
import { questionLines } from '../../src/tui/views/question-line.ts';
import { spinnerLine } from '../../src/tui/views/spinner-line.ts';
import {
  ASCII,
  after,
  agent,
  ask,
  COLOUR,
  fits,
  HOSTILE,
  LOOKS,
  PLAIN,
  SPOKEN,
  says,
  seen,
  story,
  T0,
  THINKING,
  told,
  tree,
  waitingOn,
} from './ui-fixture.ts';

const KILLED: AgentState = { type: 'killed', by: 'you' };
const APPROVALS = { type: 'approvals', since: T0, saying: null } as const;
const AGENTS: Extract<Overlay, { type: 'agents' }> = { type: 'agents', filter: '', selected: null };

function grandchild(change: object = {}): UiState {
  return after(
    story(waitingOn(['file-reader'])),
    seen(agent('grep-all', 'file-reader', { depth: 2, created_at: T0 + 4, state: THINKING })),
    { type: 'asks', asks: [ask('a', 'grep-all', change), ask('b', 'file-reader')] },
  );
}

describe('navigation', () => {
  it('names who is in view, who stands around it, and how the tree is', () => {
    const state = after(grandchild(), told(says('test-runner', 1, 'news')));
    assert.equal(
      navigationLine(state, 70, PLAIN),
      '──── ↑- ←- [0 main] →- ↓1 file-reader ──────────── 3◐ 1• 2! $0.04 ────',
    );
    const reader = after(state, { type: 'visit', agent_id: 'file-reader' });
    assert.match(
      navigationLine(reader, 100, PLAIN),
      /^──── ↑0 main ←3 test-runner• \[1 file-reader\] →2 code-analyzer ↓4 grep-all ─+ 3◐ 1• 2! \$0\.04 ────$/,
    );
  });

  it('tells less on a narrow terminal', () => {
    assert.equal(navigationLine(grandchild(), 40, PLAIN), '─ ↑- ←- [0 main] →- ↓1 ───────── 3◐ 2! ─');
    assert.equal(navigationLine(grandchild(), 20, PLAIN), '─ [0 main] ─ 3◐ 2! ─');
    assert.equal(navigationLine(grandchild(), 14, PLAIN), '─ [0 main] ───');
  });

  it('marks a capture, and keeps the banner of the demo in sight', () => {
    const state = after(story(), { type: 'capture-begun', agent_id: 'main' });
    assert.match(navigationLine(state, 70, PLAIN), /\[0 main ✎\]/);
    const left = after(state, { type: 'visit', agent_id: 'file-reader' });
    assert.match(navigationLine(left, 100, PLAIN), /↑0 main✎/);
    for (const width of [40, 60, 80])
      assert.match(navigationLine(state, width, PLAIN, 'SCRIPTED DEMO'), / SCRIPTED DEMO /);
  });

  it('has ASCII, and words where lines are read aloud', () => {
    assert.equal(
      navigationLine(story(), 60, ASCII),
      '---- ^- <- [0 main] >- v1 file-reader -------- 1* $0.04 ----',
    );
    assert.equal(
      navigationLine(grandchild(), 80, SPOKEN),
      'in view: 0 main, 3 running, 2 waiting for approval, $0.04',
    );
  });
});

describe('the spinner', () => {
  it('says what goes on and how to stop it', () => {
    assert.equal(
      spinnerLine(story(waitingOn(['file-reader'])), 80, PLAIN),
      '⠋ waiting 12s / 30s · Esc stops waiting (agents keep running)',
    );
    assert.equal(spinnerLine(story(waitingOn(null)), 80, PLAIN), '⠋ waiting 12s / 30s · Esc stops waiting');
    assert.equal(spinnerLine(story(THINKING), 80, PLAIN), '⠋ thinking 12s · Esc interrupts');
    assert.equal(spinnerLine(story(), 80, PLAIN), null);
    assert.equal(spinnerLine(after(story(), seen(agent('main', null, { state: KILLED }))), 80, PLAIN), null);
  });

  it('turns with the clock, and stands still where lines are read aloud', () => {
    const later = (ms: number): UiState => after(story(THINKING), { type: 'tick', now: T0 + 12_000 + ms });
    assert.notEqual(spinnerLine(later(100), 80, PLAIN), spinnerLine(later(0), 80, PLAIN));
    assert.equal(spinnerLine(later(5_000), 80, SPOKEN), spinnerLine(later(0), 80, SPOKEN));
    assert.equal(spinnerLine(later(0), 80, ASCII)?.slice(0, 2), '| ');
  });

  it('says why a request waits, and when the ledger is away', () => {
    const delta = { type: 'waiting', reason: 'rate limit', delay_ms: 5_000 } as const;
    const state = after(story(THINKING), {
      type: 'runtime',
      event: { type: 'delta', agent_id: 'main', delta },
    });
    assert.equal(spinnerLine(state, 80, PLAIN), '⠋ rate limit (again in 5s) · Esc interrupts');
    const away = after(story(), {
      type: 'runtime',
      event: { type: 'ledger', reachable: false, text: 'no connection' },
    });
    assert.equal(spinnerLine(away, 80, PLAIN), '! ledger: no connection; waiting, nothing is lost');
  });
});

it('hints at what can be done next', () => {
  assert.equal(hintLine(story(), 80, PLAIN), ' Ctrl-X a agents · ! approvals · / commands · ? keys');
  const dead = after(story(), seen(agent('main', null, { state: KILLED })));
  assert.equal(
    hintLine(dead, 80, PLAIN),
    ' ended: no input · Ctrl-X arrows move · /reap removes ended agents',
  );
  assert.match(
    hintLine(after(story(), { type: 'leader', on: true }), 80, PLAIN),
    /^ a agents · ! approvals · k kill/,
  );
  assert.match(hintLine(grandchild(), 80, PLAIN), /^ Ctrl-X ! answers 2 /);
});

it('says that a capture is on and reaches nobody', () => {
  const begun = after(story(), { type: 'capture-begun', agent_id: 'main' });
  const state = after(begun, { type: 'captured', agent_id: 'main', text: 'a\nb' });
  assert.equal(captureBar(state, 60, PLAIN), '━━ CAPTURE · 2 lines · not sent to main ━━ /fork · /cancel ━');
  assert.equal(captureBar(state, 80, SPOKEN), 'Capture, 2 lines, not sent to main. /fork or /cancel.');
  assert.equal(captureBar(story(), 60, PLAIN), null);
});

describe('an approval', () => {
  it('is the picture of UX.md', () => {
    assert.deepEqual(approvalBox(grandchild(), APPROVALS, 58, 20, PLAIN), [
      '┌ 1 of 2 ─ main › file-reader › grep-all wants: bash ────┐',
      '│ rm -rf dist                                            │',
      '│ cwd ~/proj · rule: ask(bash:rm *)                      │',
      '│ y once   s this agent, session   n deny   m deny+say   │',
      '│ v view agent   Esc later (stays queued)                │',
      '└────────────────────────────────────────────────────────┘',
    ]);
  });

  it('never cuts a command in silence', () => {
    const long = grandchild({
      subject: Array.from({ length: 30 }, (_, index) => `step ${index}`).join('\n'),
    });
    const all = approvalBox(long, APPROVALS, 58, 50, PLAIN);
    assert.equal(all.length, 35);
    const low = approvalBox(long, APPROVALS, 58, 10, PLAIN);
    assert.equal(low.length, 10);
    assert.match(low[5] ?? '', /… \+26 lines more: v shows them/);
    assert.match(low.join('\n'), /y once/);
  });

  it('keeps who, what and the keys on a small terminal', () => {
    assert.deepEqual(approvalBox(grandchild(), APPROVALS, 40, 6, PLAIN), [
      '┌ 1 of 2 ─ grep-all wants: bash ───────┐',
      '│ rm -rf dist                          │',
      '│ cwd ~/proj · rule: ask(bash:rm *)    │',
      '│ y once  s agent  n deny  m say       │',
      '│ v view  Esc later                    │',
      '└──────────────────────────────────────┘',
    ]);
    assert.deepEqual(approvalBox(grandchild(), APPROVALS, 20, 4, PLAIN), [
      'bash: grep-all 1 of…',
      'rm -rf dist',
      'y yes n no s m v Esc',
    ]);
  });

  it('takes words that go with a deny', () => {
    const saying = { ...APPROVALS, saying: 'use npm run clean' };
    assert.match(
      approvalBox(grandchild(), saying, 60, 20, PLAIN).join('\n'),
      /why not: use npm run clean .*\n.*Enter denies/,
    );
  });

  it('shows the arguments when the call has no subject', () => {
    assert.match(
      approvalBox(grandchild({ subject: '' }), APPROVALS, 60, 20, PLAIN)[1] ?? '',
      /\{"command":"rm -rf dist"\}/,
    );
  });
});

describe('the question before a kill', () => {
  const kill = (...descendants: string[]): Extract<Overlay, { type: 'kill' }> => ({
    type: 'kill',
    agent_id: 'file-reader',
    descendants,
  });

  it('says how many go too', () => {
    const text = (overlay: Extract<Overlay, { type: 'kill' | 'quit' }>): string =>
      questionLines(grandchild(), overlay, 200, 5, PLAIN).join('\n');
    assert.equal(text(kill()), 'Kill file-reader? It stays visitable until /reap.  [y] kill  [n/Esc] keep');
    assert.equal(
      text(kill('grep-all')),
      'Kill file-reader and 1 descendant (grep-all)? Both stay visitable until /reap.  [y] kill  [n/Esc] keep',
    );
    assert.match(text(kill('a', 'b', 'c', 'd')), /and 4 descendants \(a, b, c, \+1 more\)\? All 5 stay/);
    assert.equal(text({ type: 'quit', working: 2 }), 'quit? 2 agents running: [d]etach [k]ill all [n]o');
  });

  it('keeps its keys where there is little room', () => {
    assert.match(
      questionLines(grandchild(), kill('grep-all'), 20, 2, PLAIN).join('\n'),
      /^\[y\]\/\[n\] kill 2/,
    );
  });
});

describe('the list of agents', () => {
  it('is a tree with what each does', () => {
    const { lines, cursor } = agentsOverlay(grandchild(), AGENTS, 72, 12, PLAIN);
    assert.deepEqual(lines, [
      ' Agents 5 · filter:                                          $0.04  42k',
      ' ▸ main              ◐ waiting                                4k    12s',
      '   ├1 file-reader    ! bash: rm -rf dist                     13k    11s',
      '   │ └4 grep-all     ! bash: rm -rf dist                            11s',
      '   ├2 code-analyzer  ○ idle "found 3 leaks"                  11k     0s',
      '   └3 test-runner    ○ idle                                  14k     0s',
      ' Enter open · s send · k kill · r reap · 1-9 pin · Esc',
    ]);
    assert.deepEqual(cursor, { row: 0, column: 20 });
  });

  it('does not move a row when states change', () => {
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

  it('filters, with the agents above those that match', () => {
    const { lines } = agentsOverlay(grandchild(), { ...AGENTS, filter: 'GREP' }, 72, 12, PLAIN);
    assert.deepEqual(
      lines.slice(1, -1).map((line) => line.slice(3, 18).trimEnd()),
      ['main', '└1 file-reader', '  └4 grep-all'],
    );
    assert.match(
      agentsOverlay(grandchild(), { ...AGENTS, filter: 'zzz' }, 72, 12, PLAIN).lines[1] ?? '',
      /no agent has that/,
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
    { action: 'parent / child', chord: 'Ctrl+↑ / ↓', leader: '↑ / ↓', slash: '/agent' },
    { action: 'kill the agent in view', chord: '', leader: 'k', slash: '/kill' },
  ];

  it('stand in a table, or one below the other', () => {
    assert.deepEqual(keysHelp(keys, 'Ctrl-X', 80, 10, PLAIN), [
      ' action                  chord       Ctrl-X then  slash',
      ' parent / child          Ctrl+↑ / ↓  ↑ / ↓        /agent',
      ' kill the agent in view              k            /kill',
      ' Esc closes',
    ]);
    assert.deepEqual(keysHelp(keys, 'Ctrl-X', 50, 10, PLAIN), [
      ' parent / child: Ctrl+↑ / ↓, Ctrl-X ↑ / ↓, /agent',
      ' kill the agent in view: Ctrl-X k, /kill',
      ' Esc closes',
    ]);
    assert.equal(keysHelp([...keys, ...keys], 'Ctrl-X', 80, 4, PLAIN)[2], ' +3 more: /help');
  });
});

it('offers three ways to begin without a key', () => {
  assert.deepEqual(firstRun(0, 80, PLAIN), [
    'No model key found. Nothing was sent anywhere.',
    '▸ 1  Watch a 20-second demo   (offline, scripted agents, real tools)',
    '  2  Add a key                (ANTHROPIC_API_KEY, OPENAI_API_KEY…)',
    '  3  Use a local model        (OpenAI-compatible URL)',
  ]);
  assert.match(firstRun(1, 80, ASCII)[2] ?? '', /^> 2 {2}Add a key .*KEY\.\.\.\)$/);
});

it('fits any width in any look, whatever agents are called and ask', () => {
  const hostile = after(
    grandchild({ subject: HOSTILE, cwd: HOSTILE, rule: HOSTILE, tool: HOSTILE }),
    seen(agent('main', null, { name: HOSTILE, state: waitingOn(null) })),
    seen(agent('file-reader', 'main', { name: HOSTILE, doing: HOSTILE, reply: HOSTILE })),
    { type: 'capture-begun', agent_id: 'main' },
  );
  const drawn = (width: number, look: Look): readonly string[] => [
    navigationLine(hostile, width, look, 'SCRIPTED DEMO'),
    spinnerLine(hostile, width, look) ?? '',
    hintLine(hostile, width, look),
    captureBar(hostile, width, look) ?? '',
    ...approvalBox(hostile, APPROVALS, width, 20, look),
    ...approvalBox(hostile, APPROVALS, width, 3, look),
    ...questionLines(
      hostile,
      { type: 'kill', agent_id: 'file-reader', descendants: ['grep-all'] },
      width,
      9,
      look,
    ),
    ...agentsOverlay(hostile, { ...AGENTS, filter: HOSTILE }, width, 9, look).lines,
    ...agentsOverlay(hostile, AGENTS, width, 9, look).lines,
    ...firstRun(0, width, look),
  ];
  for (const look of [...Object.values(LOOKS), { ...COLOUR, accessible: true }])
    for (let width = 2; width <= 100; width += 1) fits(drawn(width, look), width);
});
