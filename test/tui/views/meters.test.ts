// Proves what the meters of the navigation line show of an agent's context, a turn and the total, and that each can be switched off.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contextWindow } from '../../../src/models/providers.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { EMPTY_UI, totalUsage, type UiState } from '../../../src/tui/state/ui-state.ts';
import { ALL_METERS, type MeterSettings } from '../../../src/tui/views/navigation/meters.ts';
import { navigationLine } from '../../../src/tui/views/navigation/navigation-line.ts';
import { ASCII, after, agent, fits, PLAIN, SPOKEN, T0, THINKING, tokens } from '../ui-fixture.ts';

const now = (seconds: number) => ({ type: 'tick', now: T0 + seconds * 1000 }) as const;
const seen = (id: string, change: Partial<Agent>) =>
  ({
    type: 'runtime',
    event: { type: 'agent', agent: agent(id, id === 'main' ? null : 'main', change), created: false },
  }) as const;

/** Two turns of 5,000 and 9,000 tokens; during the second, a minute old and not finished, a child used 30,000. */
function twoTurns(): UiState {
  const opened = {
    type: 'opened',
    root_id: 'main',
    agents: [agent('main', null), agent('child', 'main')],
  } as const;
  return after(
    EMPTY_UI,
    opened,
    now(0),
    seen('main', { state: THINKING }),
    now(20),
    seen('main', { usage: tokens(5_000, 0.02) }),
    now(100),
    seen('main', { state: THINKING, usage: tokens(5_000, 0.02) }),
    seen('main', { state: THINKING, usage: tokens(14_000, 0.05) }),
    seen('child', { usage: tokens(30_000, 0.1) }),
    now(162),
  );
}

const drawn = (state: UiState, width: number, shown: Partial<MeterSettings> = {}) =>
  navigationLine(state, width, PLAIN, null, { ...ALL_METERS, ...shown });
const behind = (text: string) => /─ ([^─]*[^─ ]) ─+$/.exec(text)?.[1];

describe('meters', () => {
  it('show the context of the agent in view, this turn, and all turns', () => {
    const state = after(twoTurns(), { type: 'visit', agent_id: 'main' });
    assert.equal(behind(drawn(state, 110)), '1◐ at work · context 9k · turn 39k $0.13 1m02 · 44k $0.15');
    const child = after(state, { type: 'visit', agent_id: 'child' });
    assert.match(drawn(child, 120, { windowOf: () => 200_000 }), / context 15% · turn /);
    assert.match(
      navigationLine(state, 120, ASCII),
      / \| context 9k \| turn 39k \$0\.13 1m02 \| 44k \$0\.15 ----$/,
    );
  });

  it('begin with model and effort of the agent in view where these are others than those of the main agent', () => {
    const { config } = agent('child', 'main');
    const other = seen('child', { config: { ...config, model: 'other/m', thinking: 'high' } });
    const state = after(twoTurns(), other, { type: 'visit', agent_id: 'child' });
    assert.match(drawn(state, 130), / 1◐ at work · other\/m thinking high · context /);
    assert.match(drawn(state, 100), / 1◐ · context 30k · turn /, 'and are left out first');
    assert.match(navigationLine(state, 130, SPOKEN), /, other\/m thinking high, context /);
    assert.doesNotMatch(drawn(after(state, { type: 'visit', agent_id: 'main' }), 130), /play|other/);
  });

  it('of the first turn show how long it takes; a turn at rest keeps its time', () => {
    const first = after(
      EMPTY_UI,
      { type: 'opened', root_id: 'main', agents: [agent('main', null)] },
      now(0),
      seen('main', { state: THINKING }),
      now(5),
      seen('main', { state: THINKING, usage: tokens(5_000) }),
      now(8),
    );
    assert.equal(behind(drawn(first, 110)), '1◐ at work · context 5k · turn 8s · 5k');
    const rests = after(first, seen('main', { usage: tokens(5_000) }), now(500));
    assert.equal(behind(drawn(rests, 110)), 'context 5k · turn 8s · 5k');
  });

  it('leave out the turn, then the context, then all but the cost on a narrow terminal', () => {
    const state = after(twoTurns(), { type: 'visit', agent_id: 'main' });
    assert.match(drawn(state, 75), / 1◐ · context 9k · 44k \$0\.15 ────$/);
    assert.match(drawn(state, 50), / 1◐ · \$0\.15 ──$/);
    for (let width = 2; width < 120; width += 1) fits([drawn(state, width)], width);
  });

  it('are each switched off by the configuration, and have no clock in accessible mode', () => {
    const state = after(twoTurns(), { type: 'visit', agent_id: 'main' });
    const without = (shown: Partial<MeterSettings>) => behind(drawn(state, 110, shown));
    assert.equal(without({ context: false }), '1◐ at work · turn 39k $0.13 1m02 · 44k $0.15');
    assert.equal(without({ tokens: false }), '1◐ at work · context 9k · turn $0.13 1m02 · $0.15');
    assert.equal(without({ cost: false }), '1◐ at work · context 9k · turn 39k 1m02 · 44k');
    assert.equal(without({ elapsed: false }), '1◐ at work · context 9k · turn 39k $0.13 · 44k $0.15');
    assert.equal(without({ context: false, tokens: false, cost: false, elapsed: false }), '1◐ at work');
    assert.match(
      navigationLine(state, 120, SPOKEN),
      /, context 9k, turn 39k tokens \$0\.13, 44k tokens \$0\.15 in all$/,
    );
  });

  it('say what the tree and the agent in view may still spend, from half on, and leave that out last', () => {
    const scope = (holder: string, limit: number | null, left: number | null) => ({
      ...{ holder, of_tree: holder === 'main', limit, left, spent: 0, reserved: 0 },
    });
    const budget = (agent_id: string, [usd, tokens]: readonly ReturnType<typeof scope>[]) => ({
      ...{ schema: 'coppice/budget/v1' as const, agent_id, name: agent_id, root_id: 'main', until: null },
      ...{ usd: usd ?? scope('main', null, null), tokens: tokens ?? scope('main', null, null) },
    });
    const told = (tree: number, own: readonly ReturnType<typeof scope>[] = [], view = 'main') => {
      const root = budget('main', [scope('main', 1, tree), scope('main', 100_000, 56_000)]);
      const budgets = { type: 'budgets', budgets: [root, budget('child', own)] } as const;
      return after(twoTurns(), { type: 'visit', agent_id: view }, budgets);
    };
    assert.match(drawn(told(0.5), 120), / 44k \$0\.15 ─/, 'half is no news');
    assert.match(drawn(told(0.4), 120), / 44k \$0\.15 · \$0\.40 left ─/);
    assert.match(drawn(told(0.4), 60), / \$0\.15 · \$0\.40 left ─/);
    assert.doesNotMatch(drawn(told(0.4), 120, { budget: false }), /left/);
    const own = [scope('child', 0.5, 0.05), scope('main', 100_000, 40_000)];
    assert.match(drawn(told(0.9, own, 'child'), 120), / \$0\.15 · own \$0\.050 left ─/);
    assert.doesNotMatch(drawn(told(0.9, own), 120), /left/, 'only of the agent in view');
    const above = [scope('other', 0.5, 0.2), scope('other', 9_000, 1_000)];
    const spoken = navigationLine(told(0.4, above, 'child'), 200, SPOKEN);
    assert.match(spoken, / in all, \$0\.40 left, branch 1k tokens \$0\.20 left$/);
  });

  it('keep what agents used that were reaped or deleted, also when the tree is opened again', () => {
    const state = after(twoTurns(), { type: 'visit', agent_id: 'main' });
    const meters = '1◐ at work · context 9k · turn 39k $0.13 1m02 · 44k $0.15';
    const reaped = after(state, { type: 'reaped', ids: ['child'] });
    assert.equal(behind(drawn(reaped, 110)), meters);
    const removed = { type: 'removed', ids: ['child'] } as const;
    assert.equal(behind(drawn(after(state, { type: 'runtime', event: removed }), 110)), meters);
    const again = after(reaped, seen('child', { usage: tokens(30_000, 0.1), reaped_at: T0 }));
    assert.equal(behind(drawn(again, 110)), meters, 'each counts once');
    const opened = after(EMPTY_UI, {
      type: 'opened',
      root_id: 'main',
      agents: [
        agent('main', null, { usage: tokens(14_000, 0.05) }),
        agent('child', 'main', { usage: tokens(30_000, 0.1), reaped_at: T0 }),
      ],
    });
    assert.equal(behind(drawn(opened, 110)), '44k $0.15');
    assert.equal(opened.agents.size, 1);
    assert.equal(totalUsage(opened).input, 44_000);
  });

  it('know the windows of usual models, and those of the configuration', () => {
    const local = { type: 'openai-compatible', models: { 'a/b': { contextWindow: 8_192 } } } as const;
    const windows = [
      'anthropic/claude-sonnet-4-5',
      'openai/gpt-5-mini',
      'openai/new',
      'local/a/b',
      'local/c',
      'x/y',
      'x',
    ];
    assert.deepEqual(
      windows.map((name) => contextWindow(name, { local })),
      [200_000, 400_000, null, 8_192, null, null, null],
    );
  });
});
