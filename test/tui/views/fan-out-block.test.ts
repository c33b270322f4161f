// Proves the block of several agents for every way of waiting for them, or none: most urgent first, never higher than a third of the screen, in any style.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import type { Mail } from '../../../src/records/conversation/mail.ts';
import type { UiStyle } from '../../../src/render/style.ts';
import { childrenView, fanInView } from '../../../src/tui/state/agents/fan-in-view.ts';
import type { UiState } from '../../../src/tui/state/ui-state.ts';
import { agentsOverlay } from '../../../src/tui/views/agents-overlay.ts';
import { fanOutBlock } from '../../../src/tui/views/fan-out-block.ts';
import { frameView } from '../../../src/tui/views/frame-view.ts';
import { navigationLine } from '../../../src/tui/views/navigation/navigation-line.ts';
import {
  AGENTS,
  ASCII,
  after,
  agent,
  ask,
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
  return fanOutBlock(state, view, width, height, style);
}

function statuses(state: UiState): (string | undefined)[] | undefined {
  return fanInView(state, 'main')?.rows.map((row) => row.status);
}

describe('a wait on three agents', () => {
  const state = after(story(waitingOn(THREE)), sent(letter('code-analyzer', 'main')));

  it('tells who waits for the answer to another one’s question, who is not at work', () => {
    const limit = { text: 'the limit is raised or not', until: null, asked_at: T0 };
    const held = after(
      state,
      seen(agent('file-reader', 'main', { state: { ...THINKING, held: limit } as AgentState })),
    );
    assert.match(draw(held, 72)[0] ?? '', /1 received · 1 wait for your answer · 1 idle/);
    assert.match(navigationLine(state, 80, PLAIN), /1◐/);
    assert.doesNotMatch(navigationLine(held, 80, PLAIN), /◐/);
  });

  it('tells who waits for its provider', () => {
    const held = after(state, seen(agent('file-reader', 'main', { state: PAUSED })));
    assert.match(draw(held)[1] ?? '', /^ {2}◔ file-reader +waiting for /);
  });

  it('is drawn as documented', () => {
    assert.deepEqual(draw(state, 80), [
      '● wait 3 agents  ████░░░░░░░░ 1 received · 1 at work · 1 idle          12s / 30s',
      '  ◐ file-reader  read src/db.ts                                   12s ago    13k',
      '  ○ test-runner  ✓ code-analyzer',
    ]);
  });

  it('uses ASCII signs or colours, and only words in accessible mode', () => {
    assert.deepEqual(draw(state, 80, 20, ASCII), [
      '* wait 3 agents  ####........ 1 received | 1 at work | 1 idle          12s / 30s',
      '  * file-reader  read src/db.ts                                   12s ago    13k',
      '  o test-runner  + code-analyzer',
    ]);
    assert.ok(draw(state, 80, 20, COLOUR)[1]?.startsWith('\x1b[36m  ◐ \x1b[39mfile-reader'));
    assert.deepEqual(draw(state, 80, 20, SPOKEN), [
      'Waiting: wait 3 agents: 1 received, 1 at work, 1 idle',
      'file-reader: running: read src/db.ts, 13k tokens',
      '  1 idle: test-runner  1 received: code-analyzer',
    ]);
  });

  it('names those for which there is no room in its last line', () => {
    const busy = after(state, seen(agent('test-runner', 'main', { state: THINKING, created_at: T0 + 3 })));
    assert.deepEqual(draw(busy, 56, 3), [
      '● wait 3 agents  1 received · 2 at work        12s / 30s',
      '  ◐ file-reader  read src/db.ts           12s ago    13k',
      '  ◐ test-runner  ✓ code-analyzer',
    ]);
    assert.deepEqual(draw(busy, 56, 2).slice(1), ['  ◐ file-reader test-runner  ✓ code-analyzer']);
    assert.deepEqual(draw(state, 56, 1), []);
  });

  it('leaves the bar out where the counts would be cut, and gives those that failed another sign than those that ask', () => {
    assert.match(draw(state, 72)[0] ?? '', /░ 1 received · 1 at work · 1 idle +12s/);
    assert.match(draw(state, 70)[0] ?? '', /^● wait 3 agents {2}1 received · 1 at work · 1 idle +12s/);
    const failure = { kind: 'bad_request', error: 'no', retryable: false } as const;
    const failed = agent('test-runner', 'main', { state: { type: 'errored', failure } });
    const busy = after(state, seen(failed), {
      type: 'runtime',
      event: { type: 'agent', agent: failed, created: false },
    });
    assert.deepEqual(draw(busy, 56, 2).slice(1), ['  ✗ test-runner  ◐ file-reader  ✓ code-analyzer']);
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
    assert.match(draw(state)[0] ?? '', /^● wait 3 agents .* 12s \/ 1m00$/);
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
    assert.equal(draw(state)[0], '● spawn_agents 3 agents  1 received · 1 at work · 1 idle');
    assert.deepEqual(statuses(state), ['running', 'received', 'idle']);
  });

  it('shows them while they are asked to stop', () => {
    const state = story({ type: 'cancelling', reason: 'stop', ...parked });
    assert.equal(draw(state)[0], '● cancelling 2 agents: stop  1 received · 1 at work · 1…');
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
    assert.equal(draw(both)[0], '● subagent_spawn 2 agents  1 at work · 1 idle');
    const later = after(both, main(executing([one], ['2'])));
    assert.equal(draw(later)[0], '● subagent_spawn 2 agents  1 received · 1 at work');
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

/** Below file-reader, grep-all is at work and its child sweeper asks. */
const deep = after(
  story(waitingOn(THREE)),
  seen(agent('grep-all', 'file-reader', { state: THINKING, created_at: T0 + 4 })),
  seen(agent('sweeper', 'grep-all', { created_at: T0 + 5 })),
  { type: 'asks', asks: [ask('a', 'sweeper', { asked_at: T0 + 2_000 })] },
);

/** Thirty agents, of which two ask, one has failed, and three have reported. */
function thirty(): UiState {
  const ids = Array.from({ length: 30 }, (_, index) => `w-${index}`);
  const failure = { kind: 'auth', error: 'the key is refused', retryable: false } as const;
  const errored: AgentState = { type: 'errored', failure };
  const state = tree([
    agent('main', null, { state: waitingOn(ids) }),
    ...ids.map((id) => agent(id, 'main', { state: id === 'w-20' ? errored : THINKING, created_at: T0 + 1 })),
  ]);
  const asks = ['w-25', 'w-17'].map((id) => ask(id, id));
  return after(
    state,
    { type: 'asks', asks },
    ...['w-0', 'w-1', 'w-2'].map((id) => sent(letter(id, 'main', id))),
  );
}

describe('many agents', () => {
  it('have rows in the order of need and of answers, and one line for the rest', () => {
    const low = draw(thirty(), 60, 6);
    assert.deepEqual(
      low.slice(1, -1).map((row) => row.trim().split(/ {2,}/)[0]),
      ['! w-25', '! w-17', '! w-20', '◐ w-3'],
    );
    assert.match(low[0] ?? '', /^● wait 30 agents {2}3 received · 24 at work · 2 ask … 0s/);
    assert.equal(low.at(-1), '  ◐ w-4 w-5 w-6 w-7 w-8 +18  ✓ w-0 w-1 w-2');
  });

  it('take a third of the screen at most, so that the hint stays', () => {
    const input = { lines: ['>'], cursor: null };
    for (const height of [10, 24, 40, 50]) {
      const state = { ...thirty(), question: null };
      const { lines } = frameView(state, {
        width: 79,
        height,
        style: PLAIN,
        input,
        flags: [],
        keys: [],
      });
      const rows = lines.filter((row) => /^(?: {2}[!◐✓]|● wait)/.test(row)).length;
      assert.ok(rows >= 3 && rows <= height / 3, `${rows} of ${height}`);
      if (height >= 24) assert.match(lines.at(-1) ?? '', /Ctrl-X a agents/);
    }
  });

  it('show who asks below them, and how long it has waited', () => {
    assert.equal(
      draw(deep, 80)[1],
      '  ! file-reader › sweeper  bash rm -rf dist                      asks 10s    13k',
    );
  });

  it('that nobody waits for have the same block; those that rest are only named', () => {
    const waits = story(waitingOn(null));
    const view = childrenView(waits, 'main', () => false);
    assert.ok(view);
    assert.deepEqual(fanOutBlock(waits, view, 70, 8, PLAIN), [
      '● 3 agents  1 at work · 2 idle',
      '  ◐ file-reader  read src/db.ts                         12s ago    13k',
      '  ○ code-analyzer test-runner',
    ]);
    assert.equal(
      childrenView(story(), 'code-analyzer', () => false),
      null,
    );
    assert.equal(childrenView(deep, 'main', () => false)?.rows[0]?.branch?.below, 2);
  });

  it('at work show the words that they write, or what they wait for, and at rest the report that they sent', () => {
    const words = { type: 'text' as const, text: 'First. The lexer drops the last token' };
    const delta = {
      type: 'runtime',
      event: { type: 'delta', agent_id: 'file-reader', delta: words },
    } as const;
    const state = after(deep, { type: 'asks', asks: [] }, delta);
    assert.match(draw(state, 80)[1] ?? '', /◐ file-reader \(\+2\) +"The lexer drops the last token" /);
    assert.match(
      draw(state, 80, 20, SPOKEN)[1] ?? '',
      /^file-reader and 2 below: running: answering, /,
      'no word that changes all the time is read out',
    );
    const parked = after(state, seen(agent('file-reader', 'main', { state: waitingOn(['grep-all']) })));
    assert.match(draw(parked, 80)[1] ?? '', /◔ file-reader \(\+2\) +waits for grep-all /);
    const ended = after(state, sent(letter('code-analyzer', 'main', 'x')));
    const list = agentsOverlay(ended, AGENTS, 100, 12, PLAIN).lines.join('\n');
    assert.match(list, /code-analyzer +○ idle "x"/);
  });
});
