// Proves until when an agent at work needs no leader, for each way in which its work can be parked.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type AgentState,
  type Executing,
  newTurn,
  type RunningCall,
} from '../../../src/records/agent/state.ts';
import { parkedUntil } from '../../../src/records/conversation/parked.ts';

const RUN_MS = 10_000;
const turn = newTurn(1_000);
const END = 8_500;
const FOREVER = Number.POSITIVE_INFINITY;

let ids = 0;
function running(more: Partial<RunningCall> = {}): RunningCall {
  ids += 1;
  const call = { id: `c${ids}`, name: 't', input: '{}', side_by_side: true, idempotent: false };
  return { call, ...more };
}
const wait = (deadline: number) => running({ wait: { from: null, deadline } });
const ask = running({ ask: { id: 'a', at: 1_500 } });
const child = running({ child: 'kid' });

function executing(...calls: RunningCall[]): Executing {
  return {
    type: 'executing',
    seq: 1,
    running: calls,
    queued: [],
    results: [],
    spawned: [],
    early: [],
    turn,
  };
}

const fanIn = { pending: ['kid'], results: [], spawned: [{ agent_id: 'kid', task: 't' }], turn };

const cases: readonly (readonly [string, AgentState, number | null])[] = [
  ['at rest', { type: 'idle' }, null],
  ['ended', { type: 'completed', result: 'r' }, null],
  ['a request is under way', { type: 'requesting', attempt: 1, turn }, null],
  ['a call runs', executing(running()), null],
  ['a call runs beside a wait', executing(wait(5_000), running()), null],
  ['nothing runs at this moment', executing(), null],
  ['an allowed call runs', executing(running({ ask: { id: 'a', at: 1_500 }, approved: true })), null],
  ['a wait', executing(wait(5_000)), 5_000],
  ['two waits: the first of them', executing(wait(5_000), wait(4_000)), 4_000],
  ['a wait that is longer than the turn may take', executing(wait(50_000)), END],
  ['a child', executing(child), END],
  ['a child and a wait', executing(child, wait(5_000)), 5_000],
  ['a question: the clock stands still', executing(ask), FOREVER],
  ['a question beside a wait', executing(ask, wait(50_000)), 50_000],
  ['a fan-in', { type: 'awaiting', ...fanIn }, END],
  ['a fan-in that is being cancelled', { type: 'cancelling', reason: 'r', ...fanIn }, END],
  [
    'a fan-in in the last share of the time: the end is the end',
    {
      type: 'awaiting',
      ...fanIn,
      turn: { ...turn, grace: { kind: 'limit', error: 'e', retryable: true } },
    },
    11_000,
  ],
  [
    'a person waits: no turn, no end but the deadline',
    { type: 'waiting', wait: { from: null, deadline: 99_000 }, since: 1 },
    99_000,
  ],
];

for (const [name, state, expected] of cases)
  it(`${name}: ${expected === null ? 'somebody must lead it' : expected}`, () =>
    assert.equal(parkedUntil(state, RUN_MS), expected));
