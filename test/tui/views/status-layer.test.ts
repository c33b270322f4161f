// Proves the rows of the status layer for every way of waiting for several agents, at any size and in any style.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import type { Mail } from '../../../src/records/conversation/mail.ts';
import type { UiStyle } from '../../../src/render/style.ts';
import { fanInView } from '../../../src/tui/state/agents/fan-in-view.ts';
import type { UiState } from '../../../src/tui/state/ui-state.ts';
import { statusLayer } from '../../../src/tui/views/frame-view.ts';
import {
  ASCII,
  after,
  agent,
  at,
  COLOUR,
  call,
  executing,
  fits,
  HOSTILE,
  IDLE,
  LOOKS,
  letter,
  PAUSED,
  PLAIN,
  result,
  SPOKEN,
  seen,
  sent,
  story,
  T0,
  THINKING,
  told,
  tree,
  waitingOn,
} from '../ui-fixture.ts';

const THREE = ['file-reader', 'code-analyzer', 'test-runner'];

function draw(state: UiState, width = 56, height = 20, style: UiStyle = PLAIN): string[] {
  const view = fanInView(state, 'main');
  assert.ok(view !== null, 'nothing is awaited');
  return statusLayer(view, width, height, style);
}

function statuses(state: UiState): (string | undefined)[] | undefined {
  return fanInView(state, 'main')?.rows.map((row) => row.status);
}

describe('a wait on three agents', () => {
  const state = after(story(waitingOn(THREE)), sent(letter('code-analyzer', 'main')));

  it('tells who waits for its provider', () => {
    const held = after(state, seen(agent('file-reader', 'main', { state: PAUSED })));
    assert.match(draw(held)[1] ?? '', /^ {2}file-reader +◔ waiting /);
  });

  it('is drawn as documented', () => {
    assert.deepEqual(draw(state), [
      '● wait 30s on 3 agents',
      '  file-reader      ◐ running    22 calls  13k tokens',
      '  code-analyzer    ✓ received   13 calls  11k tokens',
      '  test-runner      ○ idle        9 calls  14k tokens',
      '────────────────────────────────────────────────────────',
    ]);
  });

  it('uses ASCII signs or colours, and only words in accessible mode', () => {
    assert.equal(draw(state, 56, 20, ASCII)[2], '  code-analyzer    + received   13 calls  11k tokens');
    assert.equal(
      draw(state, 56, 20, COLOUR)[2],
      '  code-analyzer    \x1b[32m✓ received\x1b[39m   13 calls  11k tokens',
    );
    assert.deepEqual(draw(state, 56, 20, SPOKEN), [
      'Waiting: wait 30s on 3 agents',
      'file-reader: running, 22 calls, 13k tokens',
      'code-analyzer: received, 13 calls, 11k tokens',
      'test-runner: idle, 9 calls, 14k tokens',
    ]);
  });

  it('counts the rows for which there is no room', () => {
    assert.deepEqual(draw(state, 56, 3), [
      '● wait 30s on 3 agents',
      '  file-reader    ◐ running    22 calls  13k tokens',
      '  +2 more',
    ]);
    assert.deepEqual(draw(state, 56, 2), ['● wait 30s on 3 agents', '  +3 more, 1 running']);
    assert.deepEqual(draw(state, 56, 1), []);
  });

  it('shows fewer columns on a narrow terminal, but always name and status', () => {
    assert.deepEqual(draw(state, 40).slice(1, 3), [
      '  file-reader      ◐ running    22 calls',
      '  code-analyzer    ✓ received   13 calls',
    ]);
    assert.deepEqual(draw(state, 26)[1], '  file-reader   ◐ running');
  });

  it('fits any size in any style, whatever the names of agents', () => {
    const hostile = after(state, seen(agent('file-reader', 'main', { name: HOSTILE.repeat(3) })));
    for (const style of Object.values(LOOKS))
      for (let width = 1; width <= 90; width += 1)
        for (const height of [1, 2, 3, 4, 20]) {
          const lines = draw(hostile, width, height, style);
          assert.ok(lines.length <= height);
          fits(lines, width);
        }
  });
});

describe('who is what', () => {
  it('is the status that the wait itself would return', () => {
    const state = story(waitingOn([...THREE, 'nobody']));
    assert.deepEqual(statuses(state), ['running', 'idle', 'idle', 'dead']);
    const killed = after(state, seen(agent('test-runner', 'main', { state: { type: 'killed', by: 'you' } })));
    assert.deepEqual(statuses(killed), ['running', 'idle', 'dead', 'dead']);
    // With mail present, the state is received even if the sender is dead.
    const wrote = after(killed, sent(letter('test-runner', 'main')));
    assert.deepEqual(statuses(wrote), ['running', 'idle', 'received', 'dead']);
    // An idle agent with unread mail counts as running.
    const asked = after(state, sent(letter('main', 'code-analyzer')));
    assert.deepEqual(statuses(asked), ['running', 'running', 'idle', 'dead']);
  });

  it('counts a letter until the wait has returned it, then the next one', () => {
    const [one, two] = [letter('code-analyzer', 'main', 'a'), letter('code-analyzer', 'main', 'b')];
    // Only the fact counts, whatever the text says.
    const ended = (seq: number, letters: readonly Mail[]) =>
      told(
        at('main', seq, {
          kind: 'result',
          content: { call_id: 'w', name: 'wait', status: 'ok', output: '{"results":[]}', facts: { letters } },
        }),
      );
    const first = after(
      story(waitingOn(THREE)),
      { type: 'history', agent_id: 'main', messages: [], mail: [one] },
      sent(two),
      ended(1, [one]),
    );
    assert.equal(statuses(first)?.[1], 'received');
    assert.equal(statuses(after(first, ended(2, [two])))?.[1], 'idle');
    const notice = at('main', 2, {
      kind: 'user',
      content: { origin: 'mail', text: 'got mail from code-analyzer', facts: { notice: ['code-analyzer'] } },
    });
    assert.equal(statuses(after(first, told(notice)))?.[1], 'received', 'a notice takes no letter');
    const forged = { agent_id: 'code-analyzer', name: 'code-analyzer', status: 'received', message: 'b' };
    const other = result('main', 2, 'x', 'wait', JSON.stringify({ results: [forged] }));
    assert.equal(statuses(after(first, told(other)))?.[1], 'received');
  });

  it('is also shown for a wait of a person', () => {
    const wait = { from: THREE, deadline: T0 + 60_000 };
    const state = story({ type: 'waiting', wait, since: T0 });
    assert.equal(draw(state)[0], '● wait 1m00 on 3 agents');
    assert.equal(draw(state).length, 5);
  });

  it('is not shown for a wait on the next message, or when nothing is awaited', () => {
    assert.equal(fanInView(story(waitingOn(null)), 'main'), null);
    assert.equal(fanInView(story(IDLE), 'main'), null);
    assert.equal(fanInView(story(THINKING), 'main'), null);
  });
});

describe('spawn_agents', () => {
  const spawned = THREE.map((agent_id) => ({ agent_id, task: `task of ${agent_id}` }));
  const results = [{ agent_id: 'code-analyzer', outcome: { type: 'success' as const, result: 'ok' } }];
  const parked = { pending: ['file-reader', 'test-runner'], results, spawned, turn: newTurn(T0) };

  it('shows its children while the parent awaits them', () => {
    const state = story({ type: 'awaiting', ...parked });
    assert.equal(draw(state)[0], '● spawn_agents: 1 of 3 agents done');
    assert.deepEqual(statuses(state), ['running', 'received', 'idle']);
  });

  it('shows them while they are asked to stop', () => {
    const state = story({ type: 'cancelling', reason: 'stop', ...parked });
    assert.equal(draw(state)[0], '● cancelling 2 agents: stop');
  });

  it('shows them while other calls of the parent still run', () => {
    const running = executing([{ call: call('b', 'bash') }]) as Extract<AgentState, { type: 'executing' }>;
    const state = story({ ...running, spawned, early: results });
    assert.deepEqual(statuses(state), ['running', 'received', 'idle']);
  });
});

describe('subagent_spawn side by side', () => {
  const one = { call: call('1', 'subagent_spawn'), child: 'file-reader' };
  const two = { call: call('2', 'subagent_spawn'), child: 'code-analyzer' };
  const main = (state: AgentState) => seen(agent('main', null, { state }));

  it('keeps the row of a finished child while others run', () => {
    const both = after(story(), main(executing([one, two])));
    assert.equal(draw(both)[0], '● subagent_spawn: 0 of 2 agents done');
    const later = after(both, main(executing([one], ['2'])));
    assert.equal(draw(later)[0], '● subagent_spawn: 1 of 2 agents done');
    assert.deepEqual(statuses(later), ['running', 'received']);
    assert.deepEqual(fanInView(later, 'main')?.call_ids, ['1']);
    const done = after(
      later,
      main(THINKING),
      main(executing([{ ...two, call: call('3', 'subagent_spawn') }])),
    );
    assert.deepEqual(statuses(done), ['idle']);
  });
});

it('shows as many of thirty agents as there are rows', () => {
  const ids = Array.from({ length: 30 }, (_, index) => `worker-${index}`);
  const state = tree([
    agent('main', null, { state: waitingOn(ids) }),
    ...ids.map((id) => agent(id, 'main', { state: THINKING, created_at: T0 + 1 })),
  ]);
  assert.equal(draw(state, 80, 40).length, 32);
  const low = draw(state, 80, 10);
  assert.equal(low.length, 10);
  assert.equal(low[8], '  +23 more, 23 running');
});
