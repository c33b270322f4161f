// Proves that the layers share any screen: which are dropped first when it is low, that input and cursor always stay, and that nothing is too wide.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UiStyle } from '../../../src/render/style.ts';
import type { UiState } from '../../../src/tui/state/ui-state.ts';
import { type FrameSettings, frameView } from '../../../src/tui/views/frame-view.ts';
import { type Layers, layout } from '../../../src/tui/views/layout.ts';
import {
  ASCII,
  after,
  agent,
  ask,
  fits,
  HOSTILE,
  LOOKS,
  letter,
  PLAIN,
  SPOKEN,
  seen,
  sent,
  story,
  THINKING,
  waitingOn,
} from '../ui-fixture.ts';

const INPUT: Layers['input'] = { lines: ['> half a th'], cursor: { row: 0, column: 11 } };

function settings(width: number, height: number, style: UiStyle = PLAIN): FrameSettings {
  return { width, height, style, input: INPUT, flags: [], keys: [] };
}

const waiting = after(
  story(waitingOn(['file-reader', 'code-analyzer', 'test-runner'])),
  sent(letter('code-analyzer', 'main')),
);

function draw(state: UiState, width: number, height: number, style: UiStyle = PLAIN): readonly string[] {
  return frameView(state, settings(width, height, style)).lines;
}

/** Returns the kind of each row, derived from its first character. */
function kinds(lines: readonly string[]): string {
  return lines
    .map((line) => {
      if (line.startsWith('●')) return 'head';
      if (/^ {2}\+/.test(line)) return 'more';
      if (line.startsWith('  ')) return 'row';
      if (/^[⠋⠙⠹]/.test(line)) return 'spinner';
      if (/^─+$/.test(line)) return 'rule';
      if (line.startsWith('─')) return 'navigation';
      return line.startsWith('>') ? 'input' : 'hint';
    })
    .join(' ');
}

describe('a fan-in on a screen that gets lower', () => {
  it('shows all layers when there is room', () => {
    assert.deepEqual(draw(waiting, 60, 24), [
      '● wait 3 agents  1 received · 1 at work · 1 idle   12s / 30s',
      '  ◐ file-reader  read src/db.ts               12s ago    13k',
      '  ○ test-runner  ✓ code-analyzer',
      '⠋ waiting 12s / 30s · Esc stops waiting (agents keep runnin…',
      '──── [0 main] ↓1 file-reader ─ 1◐ · turn 0s · 42k $0.04 ────',
      '> half a th',
      ' Ctrl-X a agents · Ctrl-X ? keys · / commands · asks',
    ]);
  });

  it('drops the hint first, then status rows, then the spinner, then the rest, and never the input', () => {
    const at = (height: number): string => kinds(draw(waiting, 60, height));
    assert.equal(at(9), 'head row row spinner navigation input hint');
    assert.equal(at(7), 'head row spinner navigation input hint');
    assert.equal(at(5), 'head row spinner navigation input');
    assert.equal(at(3), 'spinner navigation input');
    assert.equal(at(2), 'navigation input');
    assert.equal(at(1), 'input');
  });

  it('still shows the progress on 40×10 and 20×5', () => {
    assert.deepEqual(draw(waiting, 40, 10), [
      '● wait 3 agents  1 received ·… 12s / 30s',
      '  ◐ file-reader  read src/db.ts',
      '  ○ test-runner  ✓ code-analyzer',
      '⠋ waiting 12s / 30s · Esc stops waiting…',
      '── [0 main] ↓1 file-re… ── 1◐ · $0.04 ──',
      '> half a th',
      ' Ctrl-X a agents · Ctrl-X ? keys · / co…',
    ]);
    assert.deepEqual(draw(waiting, 20, 5), [
      '● wait 3 … 12s / 30s',
      '  ◐ +1  ○ +1  ✓ +1',
      '⠋ waiting 12s / 30s…',
      '─ [0 main] ↓1 ─ 1◐ ─',
      '> half a th',
    ]);
  });

  it('has no decoration in accessible mode', () => {
    assert.deepEqual(draw(waiting, 80, 24, SPOKEN), [
      'Waiting: wait 3 agents: 1 received, 1 at work, 1 idle',
      'file-reader: running: read src/db.ts, 13k tokens',
      '  1 idle: test-runner  1 received: code-analyzer',
      'main: waiting. Esc stops waiting (agents keep running).',
      'in view: 0 main, 1 running, 42k tokens $0.04 in all',
      '> half a th',
      ' Ctrl-X a agents - Ctrl-X ? keys - / commands - asks',
    ]);
  });

  it('uses only ASCII where nothing else is available', () => {
    for (const line of draw(waiting, 80, 24, ASCII)) assert.match(line, /^[ -~]*$/);
  });

  it('changes no line in accessible mode while only time passes', () => {
    const later = after(waiting, { type: 'tick', now: waiting.now + 1_234 });
    assert.deepEqual(draw(later, 80, 24, SPOKEN), draw(waiting, 80, 24, SPOKEN));
    assert.notDeepEqual(draw(later, 80, 24), draw(waiting, 80, 24));
  });
});

describe('the input', () => {
  const tall = (rows: number, row: number): Layers['input'] => ({
    lines: Array.from({ length: rows }, (_, index) => `line ${index}`),
    cursor: { row, column: 3 },
  });

  it('has the terminal cursor', () => {
    const frame = frameView(waiting, settings(60, 24));
    assert.deepEqual(frame.cursor, { row: 5, column: 11 });
  });

  it('shows the lines around the cursor when there are many', () => {
    for (const height of [1, 2, 5, 10, 24])
      for (const row of [0, 7, 39]) {
        const { lines, cursor } = frameView(waiting, { ...settings(60, height), input: tall(40, row) });
        assert.ok(lines.length <= height);
        assert.equal(lines[cursor?.row ?? -1], `line ${row}`);
      }
  });

  it('is hidden for an ended agent', () => {
    const dead = after(waiting, seen(agent('main', null, { state: { type: 'killed', by: 'you' } })));
    const { lines, cursor } = frameView(dead, settings(60, 24));
    assert.equal(cursor, null);
    assert.ok(lines.every((line) => !line.startsWith('>')));
  });

  it('keeps its position and its text while a question is open', () => {
    const asked = after(waiting, { type: 'asks', asks: [ask('a', 'test-runner')] });
    const { lines, cursor } = frameView(asked, settings(60, 24));
    assert.equal(lines[cursor?.row ?? -1], '> half a th');
    assert.match(lines.join('\n'), /wants: bash/);
  });
});

it('shows the newest of the streamed text in the remaining rows', () => {
  const delta = { type: 'text', text: 'one\n\ntwo\n\nthree' } as const;
  const state = after(story(THINKING), {
    type: 'runtime',
    event: { type: 'delta', agent_id: 'main', delta },
  });
  assert.deepEqual(draw(state, 60, 24).slice(0, 5), ['one', '', 'two', '', 'three']);
  assert.deepEqual(draw(state, 60, 7).slice(0, 1), ['three']);
});

it('asks layers for no more rows than the screen has', () => {
  const asked: number[] = [];
  const rows = (height: number): string[] => {
    asked.push(height);
    return Array.from({ length: height }, () => 'x');
  };
  const layers: Layers = {
    live: rows,
    status: rows,
    spinner: 's',
    question: null,
    question_rows: 0,
    bar: 'b',
    navigation: 'n',
    input: INPUT,
    hint: 'h',
  };
  for (let height = 1; height <= 40; height += 1) {
    asked.length = 0;
    const { lines } = layout(layers, height);
    assert.equal(lines.length, height);
    assert.ok(asked.every((room) => room <= height));
  }
});

it('fits every screen in every style, whatever is open', () => {
  const hostile = after(
    waiting,
    seen(agent('file-reader', 'main', { name: HOSTILE, doing: HOSTILE, state: THINKING })),
    { type: 'captured', agent_id: 'main', content: { text: '', mark: 'begun' } },
    {
      type: 'runtime',
      event: { type: 'delta', agent_id: 'main', delta: { type: 'text', text: HOSTILE.repeat(5) } },
    },
  );
  const states: readonly UiState[] = [
    hostile,
    after(hostile, { type: 'asks', asks: [ask('a', 'file-reader', { subject: HOSTILE.repeat(9) })] }),
    after(hostile, { type: 'overlay', overlay: { type: 'agents', filter: '', selected: null } }),
    after(hostile, {
      type: 'overlay',
      overlay: { type: 'kill', agent_ids: ['file-reader'], descendants: ['test-runner'] },
    }),
    after(hostile, { type: 'overlay', overlay: { type: 'quit', working: () => 2 } }),
    after(hostile, { type: 'overlay', overlay: { type: 'keys' } }),
  ];
  for (const state of states)
    for (const style of Object.values(LOOKS))
      for (const [width, height] of [
        [200, 60],
        [80, 24],
        [40, 10],
        [20, 5],
        [12, 3],
        [12, 1],
      ] as const) {
        const { lines, cursor } = frameView(state, settings(width, height, style));
        assert.ok(lines.length <= height, `${lines.length} rows of ${height}`);
        fits(lines, width);
        assert.ok(cursor === null || cursor.row < lines.length);
      }
});
