// Proves that working children are listed below the spinner with their activity and cost, that idle ones are only counted, and that the layer fits any screen.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UiStyle } from '../../../src/render/style.ts';
import { childrenView } from '../../../src/tui/state/agents/family.ts';
import type { UiState } from '../../../src/tui/state/ui-state.ts';
import { childrenLayer } from '../../../src/tui/views/children-layer.ts';
import { frameView } from '../../../src/tui/views/frame-view.ts';
import {
  ASCII,
  after,
  agent,
  ask,
  fits,
  HOSTILE,
  LOOKS,
  PLAIN,
  SPOKEN,
  seen,
  story,
  T0,
  THINKING,
  waitingOn,
} from '../ui-fixture.ts';

const waits = story(waitingOn(null));
/** Below file-reader, grep-all is at work and its child sweeper asks. */
const deep = after(
  waits,
  seen(agent('grep-all', 'file-reader', { state: THINKING, created_at: T0 + 4 })),
  seen(agent('sweeper', 'grep-all', { created_at: T0 + 5 })),
  { type: 'asks', asks: [ask('a', 'sweeper', { asked_at: T0 + 2_000 })] },
);

function draw(state: UiState, width = 70, height = 8, style: UiStyle = PLAIN): string[] {
  return childrenLayer(state, childrenView(state, 'main'), width, height, style);
}

describe('children at work', () => {
  it('have a row each; those at rest are counted', () => {
    assert.deepEqual(draw(waits), [
      '  file-reader  ◐ read src/db.ts                            13k     11s',
      '  2 idle',
    ]);
    assert.deepEqual(draw(waits, 70, 8, ASCII)[1], '  2 idle');
    assert.deepEqual(
      draw(waits, 70, 8, SPOKEN),
      ['file-reader: running: read src/db.ts, 13k tokens, 11s', '2 idle'].map((text, index) =>
        index === 1 ? `  ${text}` : text,
      ),
    );
  });

  it('have the number of their descendants, and the question of their branch with its age', () => {
    assert.equal(draw(deep)[0], '  file-reader (+2)  ! sweeper waits for you 10s · bash:…   13k     11s');
  });

  it('that wait for the person have their rows before others, in order of creation', () => {
    const many = Array.from({ length: 60 }, (_, index) =>
      seen(agent(`reader-${index}`, 'main', { state: THINKING, created_at: T0 + 10 + index })),
    );
    const asks = ['reader-40', 'reader-50'].map((id) => ask(id, id, { asked_at: T0 }));
    const state = after(waits, ...many, { type: 'asks', asks });
    assert.deepEqual(
      draw(state, 70, 5).map((row) => row.trim().split(/ {2,}/)[0]),
      ['file-reader', 'reader-0', 'reader-40', 'reader-50', '+57 more at work · 2 idle'],
    );
    assert.match(draw(state, 70, 2)[0] ?? '', /reader-40 +! waits for you 12s/);
  });

  it('show their model and effort where these are others than those of the main agent', () => {
    const { config } = agent('x', null);
    const other = after(
      deep,
      seen(
        agent('code-analyzer', 'main', {
          state: THINKING,
          config: { ...config, model: 'other/m', thinking: 'high' },
        }),
      ),
    );
    assert.match(draw(other, 120).join('\n'), /code-analyzer .* other\/m thinking high +0 /);
    assert.doesNotMatch(draw(other, 99).join('\n'), /other\/m|thinking/);
    assert.doesNotMatch(draw(deep, 120).join('\n'), /play\//);
  });

  it('say how many more there are, keep their order, and fit any size in any style', () => {
    let state = waits;
    for (let index = 0; index < 60; index += 1)
      state = after(
        state,
        seen(agent(`${index} ${HOSTILE}`, 'main', { state: THINKING, created_at: T0 + 10 + index })),
      );
    const lines = draw(state, 70, 5);
    assert.equal(lines.length, 5);
    assert.match(lines[0] ?? '', /^ {2}file-reader/);
    assert.equal(lines[4], '  +57 more at work · 2 idle');
    for (const style of Object.values(LOOKS))
      for (let width = 1; width <= 120; width += 7)
        for (const height of [0, 1, 2, 8]) {
          const drawn = draw(state, width, height, style);
          assert.ok(drawn.length <= height);
          fits(drawn, width);
        }
  });

  it('are shown below the spinner unless the wait itself lists who is awaited', () => {
    const settings = {
      width: 60,
      height: 24,
      style: PLAIN,
      input: { lines: ['>'], cursor: null },
      banner: null,
      keys: [],
    };
    const rows = (state: UiState): string => frameView(state, settings).lines.join('\n');
    assert.match(rows(waits), /^⠋ waiting[^\n]*\n {2}file-reader/m);
    assert.equal(rows(story(waitingOn(['file-reader']))).match(/file-reader/g)?.length, 2);
    assert.doesNotMatch(rows(story(waitingOn(['file-reader']))), /2 idle/);
  });
});
