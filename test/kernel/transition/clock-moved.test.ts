// Proves that a move of the clock changes no duration: starts, deadlines and time budgets move with it, in every state, and nothing else does; nor the timers of workflows, which are instants.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HUMAN_WAIT } from '../../../src/kernel/transition/human-wait.ts';
import {
  type AgentState,
  newTurn,
  type RunningCall,
  type Turn,
  type WaitSpec,
} from '../../../src/records/agent/state.ts';
import { AT_WORK, agentOf, answer, call, executing, NOW, play, toolOf } from '../turn/turn-stage.ts';
import { decide } from './kernel-run.ts';
import { OWN } from './turn-fixture.ts';

const HOUR_MS = 3_600_000;

function moved(state: AgentState, by_ms: number): AgentState {
  const result = decide(state, { type: 'clock-moved', at: 0, by_ms }, OWN);
  assert.ok(result.ok);
  assert.deepEqual(result.effects, timersOf(result.state));
  return result.state;
}

/** Every wait has a timer that rings at its deadline, as it is after the move. */
function timersOf(state: AgentState) {
  const at = (call_id: string, { deadline }: WaitSpec) => ({ type: 'start-timer', call_id, at: deadline });
  if (state.type === 'waiting') return [at(HUMAN_WAIT, state.wait)];
  if (state.type !== 'executing') return [];
  return state.running.flatMap(({ call: { id }, wait }) => (wait ? [at(id, wait)] : []));
}

const turn = newTurn(100);
const later: Turn = { ...newTurn(100 + HOUR_MS), began_at: 100 };
const question = { id: 'q', at: 300, tool: 't', subject: 's' };
const laterQuestion = { ...question, at: 300 + HOUR_MS };

const cases: readonly (readonly [string, AgentState, AgentState])[] = [
  ['at rest', { type: 'idle', deeds: { took_ms: 5 } }, { type: 'idle', deeds: { took_ms: 5 } }],
  [
    'a person’s wait',
    { type: 'waiting', since: 50, wait: { from: null, deadline: 900 } },
    { type: 'waiting', since: 50, wait: { from: null, deadline: 900 + HOUR_MS } },
  ],
  [
    'a request, of which an agent program asks',
    { type: 'requesting', attempt: 2, turn, asked: [question] },
    { type: 'requesting', attempt: 2, turn: later, asked: [laterQuestion] },
  ],
  [
    'a wait, an approval, a question and a running call',
    withTurn(
      executing(
        { call: call('w'), wait: { from: ['kid'], deadline: 900 } },
        { call: call('a'), ask: { id: 'a', at: 200 } },
        { call: call('q'), questions: [question] },
        call('r', 'bash', { at: 7, deadline: 7, until: 7, started_at: 7 }),
      ),
      turn,
    ),
    withTurn(
      executing(
        { call: call('w'), wait: { from: ['kid'], deadline: 900 + HOUR_MS } },
        { call: call('a'), ask: { id: 'a', at: 200 + HOUR_MS } },
        { call: call('q'), questions: [laterQuestion] },
        call('r', 'bash', { at: 7, deadline: 7, until: 7, started_at: 7 }),
      ),
      later,
    ),
  ],
  [
    'a workflow, whose timers are instants',
    withTurn(executing({ call: call('n'), wait: { from: null, runs: true, deadline: 900 } }), turn),
    withTurn(executing({ call: call('n'), wait: { from: null, runs: true, deadline: 900 } }), later),
  ],
  [
    'a fan-in',
    { type: 'awaiting', pending: ['kid'], results: [], spawned: [{ agent_id: 'kid', task: 't' }], turn },
    {
      type: 'awaiting',
      pending: ['kid'],
      results: [],
      spawned: [{ agent_id: 'kid', task: 't' }],
      turn: later,
    },
  ],
];

function withTurn(state: AgentState, of: Turn): AgentState {
  return state.type === 'executing' ? { ...state, turn: of } : state;
}

for (const [title, before, after] of cases)
  it(`${title}: moves with the clock`, () => {
    assert.deepEqual(moved(before, HOUR_MS), after);
  });

it('moves back as it moved ahead, and a turn never begins after its start', () => {
  const state: AgentState = { type: 'requesting', attempt: 1, turn };
  const back = moved(state, -50);
  assert.deepEqual('turn' in back && back.turn, { ...newTurn(50), began_at: 50 });
  const again = moved(moved(state, HOUR_MS), -HOUR_MS);
  assert.deepEqual('turn' in again && again.turn, { ...turn, began_at: 100 });
});

it('moves the ends of time budgets, and says by how much waits have moved; an agent at rest without a budget is not written', () => {
  const event = { type: 'event', event: { type: 'clock-moved', at: NOW, by_ms: HOUR_MS } } as const;
  const waits: RunningCall = { call: call('w'), wait: { from: ['kid'], deadline: NOW + 900 } };
  const budgets = [
    { agent_id: 'root', tokens: 5, until: NOW + 70 },
    { agent_id: 'above', usd: 1 },
  ];
  const { config } = agentOf('root');
  const others = [agentOf('kid', { state: AT_WORK })];
  const stepOf = (state: AgentState, own: object) =>
    play({ agent: { state, config: { ...config, ...own } }, others }, event).step;
  const step = stepOf(executing(waits), { budgets });
  assert.deepEqual(step?.config?.budgets, [{ ...budgets[0], until: NOW + 70 + HOUR_MS }, budgets[1]]);
  assert.deepEqual([step?.moved_ms, step?.waits_until], [HOUR_MS, { kid: NOW + 900 + HOUR_MS }]);
  assert.deepEqual(stepOf({ type: 'idle' }, { budgets })?.config?.budgets?.[0]?.until, NOW + 70 + HOUR_MS);
  assert.equal(stepOf({ type: 'idle' }, {}), null);
});

it('a call of the same step sees the end of its time budget where it is after the move', () => {
  const seen: unknown[] = [];
  const tool = toolOf('tool', {
    decode(_input, _call, { self }) {
      seen.push(self.config.budgets?.[0]?.until);
      return { type: 'settle', output: '', consequences: [] };
    },
  });
  const { config } = agentOf('root');
  const budgets = [{ agent_id: 'root', until: NOW + 70 }];
  const scene = { agent: { state: AT_WORK, config: { ...config, budgets } }, tools: [tool] };
  play(
    scene,
    { type: 'event', event: { type: 'clock-moved', at: NOW, by_ms: HOUR_MS } },
    answer('', call('c1')),
  );
  assert.deepEqual(seen, [NOW + 70 + HOUR_MS]);
});
