// Proves the lines around the input at any width and in any style: navigation, spinner, hint, capture, questions, lists.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choiceLines, typedLine } from '../../../src/cli/first-run/dialogue-view.ts';
import { FIRST_CHOICES, NO_MODEL } from '../../../src/cli/first-run/prepare-model.ts';
import type { UiStyle } from '../../../src/render/style.ts';
import type { UiState } from '../../../src/tui/state/ui-state.ts';
import { agentsOverlay } from '../../../src/tui/views/agents-overlay.ts';
import { approvalBox } from '../../../src/tui/views/approvals/approval-box.ts';
import { confirmationLines } from '../../../src/tui/views/confirmation-lines.ts';
import { captureBar, hintLine } from '../../../src/tui/views/frame-view.ts';
import { navigationLine } from '../../../src/tui/views/navigation/navigation-line.ts';
import { spinnerLine } from '../../../src/tui/views/spinner-line.ts';
import { tasksLine } from '../../../src/tui/views/tasks-line.ts';
import {
  AGENTS,
  ASCII,
  ASKED,
  after,
  agent,
  ask,
  COLOUR,
  fits,
  grandchild,
  HOSTILE,
  KILLED,
  LOOKS,
  PAUSED,
  PLAIN,
  SPOKEN,
  says,
  seen,
  story,
  T0,
  THINKING,
  told,
  waitingOn,
} from '../ui-fixture.ts';

const CLAIMED = {
  ...{ number: 1, title: HOSTILE, depends_on: [], state: 'claimed' as const, agent_id: 'file-reader' },
  ...{ agent_name: HOSTILE, result: null, added_by: 'main', added_at: 0, changed_at: 0 },
};

describe('navigation', () => {
  it('names the agent in view, its relatives, and the state of the tree', () => {
    const state = after(grandchild(), told(says('test-runner', 1, 'news')));
    assert.equal(
      navigationLine(state, 70, PLAIN),
      '──── [0 main] ↓1 file-reader ───── 2◐ 1• 2! · turn 0s · 42k $0.04 ────',
    );
    const reader = after(state, { type: 'visit', agent_id: 'file-reader' });
    assert.match(
      navigationLine(reader, 101, PLAIN),
      /^──── ↑0 main ←3 test-runner• \[1 file-reader\] →2 code-analyzer ↓4 grep-all ─+ 2◐ 1• 2! · 42k \$0\.04 ────$/,
    );
    assert.match(
      navigationLine(state, 100, PLAIN),
      /^──── \[0 main\] ↓1 file-reader ─+ 2◐ at work · 1• new · 2! ask · turn 0s · 42k \$0\.04 ────$/,
      'words where there is room; no arrow that leads nowhere',
    );
  });

  it('shows less on a narrow terminal', () => {
    assert.equal(navigationLine(grandchild(), 40, PLAIN), '─ [0 main] ↓1 ────────────────── 2◐ 2! ─');
    assert.equal(navigationLine(grandchild(), 20, PLAIN), '─ [0 main] ─ 2◐ 2! ─');
    assert.equal(navigationLine(grandchild(), 14, PLAIN), '─ [0 main] ───');
  });

  it('marks a capture and keeps the demo banner visible', () => {
    const state = after(story(), {
      type: 'captured',
      agent_id: 'main',
      content: { text: '', mark: 'begun' },
    });
    assert.match(navigationLine(state, 70, PLAIN), /\[0 main ✎\]/);
    const left = after(state, { type: 'visit', agent_id: 'file-reader' });
    assert.match(navigationLine(left, 100, PLAIN), /↑0 main✎/);
    for (const width of [40, 60, 80])
      assert.match(navigationLine(state, width, PLAIN, 'SCRIPTED DEMO'), / SCRIPTED DEMO /);
  });

  it('counts those that wait for their provider apart from those at work', () => {
    const state = after(story(), seen(agent('grep-all', 'main', { state: PAUSED })));
    assert.match(navigationLine(state, 70, PLAIN), / 1◐ 1◔ · 42k/);
    assert.match(navigationLine(state, 200, SPOKEN), /1 running, 1 waiting for their provider/);
  });

  it('uses ASCII, and words in accessible mode', () => {
    assert.equal(
      navigationLine(story(), 60, ASCII),
      '---- [0 main] v1 file-reader --- 1* at work | 42k $0.04 ----',
    );
    assert.equal(
      navigationLine(grandchild(), 80, SPOKEN),
      'in view: 0 main, 2 running, 2 waiting for approval, 42k tokens $0.04 in all',
    );
  });
});

describe('the spinner', () => {
  it('says what is happening and how to stop it', () => {
    assert.equal(
      spinnerLine(story(waitingOn(['file-reader'])), 80, PLAIN),
      '⠋ waiting 12s / 30s · Esc stops waiting (agents keep running)',
    );
    assert.equal(spinnerLine(story(waitingOn(null)), 80, PLAIN), '⠋ waiting 12s / 30s · Esc stops waiting');
    assert.equal(spinnerLine(story(THINKING), 80, PLAIN), '⠋ thinking 12s · Esc interrupts');
    assert.match(
      spinnerLine(story(PAUSED), 90, PLAIN) ?? '',
      /^⠋ waiting for anthropic’s quota until \d\d:\d\d · \/retry tries it now, \/model switches$/,
    );
    const held = after(story(waitingOn(['grep-all'])), seen(agent('grep-all', 'main', { state: PAUSED })));
    assert.match(
      spinnerLine(held, 90, PLAIN) ?? '',
      /^⠋ waiting for anthropic’s quota until \d\d:\d\d 12s \/ 30s · Esc stops waiting/,
    );
    const waits = agent('main', null, {
      state: THINKING,
      doing: 'waits for your answer about the limit of tokens',
    });
    assert.match(
      spinnerLine(after(story(), seen(waits)), 90, PLAIN) ?? '',
      /^⠋ waits for your answer about the limit of tokens \d+s · Esc interrupts$/,
    );
    const asking = after(story(THINKING), { type: 'asks', asks: [ask('a', 'main')] });
    const below = spinnerLine(after(asking, { type: 'question', shown: true }), 80, PLAIN);
    assert.equal(below, null, 'the question of a request stands below, too');
    assert.match(
      spinnerLine(after(asking, { type: 'question', shown: false }), 90, PLAIN) ?? '',
      /^⠋ asks you: bash .* · Ctrl-X ! answers$/,
    );
    assert.equal(spinnerLine(story(), 80, PLAIN), null);
    assert.equal(spinnerLine(after(story(), seen(agent('main', null, { state: KILLED }))), 80, PLAIN), null);
  });

  it('turns with the clock, and stands still in accessible mode', () => {
    const later = (ms: number): UiState => after(story(THINKING), { type: 'tick', now: T0 + 12_000 + ms });
    assert.notEqual(spinnerLine(later(100), 80, PLAIN), spinnerLine(later(0), 80, PLAIN));
    assert.equal(spinnerLine(later(5_000), 80, SPOKEN), spinnerLine(later(0), 80, SPOKEN));
    assert.equal(spinnerLine(later(0), 80, ASCII)?.slice(0, 2), '| ');
  });

  it('says why a request waits, and when the ledger is unreachable', () => {
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
    assert.equal(spinnerLine(away, 80, PLAIN), '! ledger: no connection');
  });
});

it('suggests what to do next', () => {
  assert.equal(hintLine(story(), 80, PLAIN), ' Ctrl-X a agents · Ctrl-X ? keys · / commands · asks');
  const dead = after(story(), seen(agent('main', null, { state: KILLED })));
  assert.equal(
    hintLine(dead, 80, PLAIN),
    ' ended: no input · Ctrl-X e begins anew · Ctrl-X q quits · Ctrl-X arrows move',
  );
  assert.match(
    hintLine(after(story(), { type: 'leader', on: true }), 80, PLAIN),
    /^ arrows move · 0-9 slot · a agents · t trees · ! approvals/,
  );
  assert.match(hintLine(grandchild(), 80, PLAIN), /^ Ctrl-X ! answers 2 /);
  const leaving = after(story(), { type: 'leaving' });
  assert.equal(hintLine(leaving, 80, PLAIN), ' Ctrl-C again leaves');
  const later = after(leaving, { type: 'tick', now: leaving.now + 1_000 });
  assert.match(hintLine(later, 80, PLAIN), /Ctrl-X a agents/);
});

it('says that a capture is active and is sent to nobody', () => {
  const begun = after(story(), { type: 'captured', agent_id: 'main', content: { text: '', mark: 'begun' } });
  const state = after(begun, { type: 'captured', agent_id: 'main', content: { text: 'a\nb' } });
  assert.equal(
    captureBar(state, 72, PLAIN),
    '━━ CAPTURE · 2 lines · not sent to main ━━ /fork · /cancel · // for / ━━',
  );
  assert.equal(
    captureBar(state, 80, SPOKEN),
    'Capture, 2 lines, not sent to main. /fork or /cancel; // for /.',
  );
  assert.equal(captureBar(story(), 60, PLAIN), null);
});

it('fits any width in any style, whatever names and questions agents have', () => {
  const hostile = after(
    grandchild({ subject: HOSTILE, cwd: HOSTILE, rule: HOSTILE, tool: HOSTILE }),
    seen(agent('main', null, { name: HOSTILE, state: waitingOn(null) })),
    seen(agent('file-reader', 'main', { name: HOSTILE, doing: HOSTILE, reply: HOSTILE })),
    { type: 'tasks', tasks: [CLAIMED] },
    { type: 'captured', agent_id: 'main', content: { text: '', mark: 'begun' } },
  );
  const drawn = (width: number, style: UiStyle): readonly string[] => [
    navigationLine(hostile, width, style, 'SCRIPTED DEMO'),
    spinnerLine(hostile, width, style) ?? '',
    hintLine(hostile, width, style),
    tasksLine(hostile, width, style) ?? assert.fail('there is a task'),
    captureBar(hostile, width, style) ?? '',
    ...approvalBox(hostile, ASKED, width, 20, style),
    ...approvalBox(hostile, ASKED, width, 3, style),
    ...confirmationLines(
      hostile,
      { type: 'kill', agent_ids: ['file-reader'], descendants: ['grep-all'] },
      width,
      9,
      style,
    ),
    ...agentsOverlay(hostile, { ...AGENTS, filter: HOSTILE }, width, 9, style).lines,
    ...agentsOverlay(hostile, AGENTS, width, 9, style).lines,
    ...choiceLines(
      { title: NO_MODEL, choices: FIRST_CHOICES, shown: [0, 1, 2], selected: 1, filter: HOSTILE, rows: 2 },
      width,
      style,
    ),
    ...typedLine(HOSTILE, HOSTILE, false, width, style).lines,
  ];
  for (const style of [...Object.values(LOOKS), { ...COLOUR, accessible: true }])
    for (let width = 2; width <= 100; width += 1) fits(drawn(width, style), width);
});
