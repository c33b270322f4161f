/** Proves which events each state admits, event by event: the whole table, written out. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import type { InvalidTransition } from '../../../src/kernel/transition/transition.ts';
import { type AgentState, type Call, newTurn } from '../../../src/records/agent/state.ts';
import { newAsk } from '../../store/ledger-fixture.ts';
import { answerOf } from './arbitrary-kernel.ts';
import { decide } from './kernel-run.ts';

const call: Call = { id: 'c', name: 'bash', input: '{}', side_by_side: false, idempotent: false };
const turn = newTurn(1);
const spawned = [{ agent_id: 'child', task: 'do it' }];
const failure = { kind: 'network' as const, error: 'gone', retryable: true };
const pause = {
  ...({ spent: 'quota', door: 'abc', text: "anthropic's quota" } as const),
  ...{ failure, opens_at: 9, tries: 0, at: 2 },
};
const child = { agent_id: 'child', outcome: { type: 'success' as const, result: 'done' } };
const content = { origin: 'human' as const, text: 'hello' };

const states: { readonly [Type in AgentState['type']]: Extract<AgentState, { type: Type }> } = {
  idle: { type: 'idle' },
  waiting: { type: 'waiting', wait: { from: null, deadline: 9 }, since: 1 },
  requesting: { type: 'requesting', attempt: 1, turn },
  executing: {
    type: 'executing',
    seq: 2,
    running: [{ call }],
    queued: [],
    results: [],
    spawned,
    early: [],
    turn,
  },
  awaiting: { type: 'awaiting', pending: ['child'], results: [], spawned, turn },
  cancelling: { type: 'cancelling', pending: ['child'], results: [], spawned, reason: 'enough', turn },
  errored: { type: 'errored', failure },
  completed: { type: 'completed', result: 'done' },
  failed: { type: 'failed', failure },
  killed: { type: 'killed', by: 'you' },
};

const ask = newAsk({
  id: 'ask',
  root_id: 'r',
  agent_id: 'a',
  agent_name: 'a',
  call_id: 'c',
  subject: 'ls',
  asked_at: 2,
});
const result = { call_id: 'c', name: 'bash', status: 'ok' as const, output: '' };
const events: { readonly [Type in AgentEvent['type']]: Extract<AgentEvent, { type: Type }> } = {
  input: { type: 'input', at: 2, content },
  steer: { type: 'steer', at: 2, content },
  response: { type: 'response', at: 2, seq: 2, content: answerOf('hi', []), calls: [], submission: null },
  'request-failed': { type: 'request-failed', at: 2, failure },
  held: { type: 'held', at: 2, held: { text: 'no slot', until: null } },
  paused: { type: 'paused', at: 2, pause },
  reopen: { type: 'reopen', at: 3 },
  'run-paused': { type: 'run-paused', at: 2, paused: { by: 'you', stops: false } },
  halt: { type: 'halt', at: 2 },
  'go-on': { type: 'go-on', at: 3 },
  'call-settled': { type: 'call-settled', at: 2, result, consequences: [], spawned: [] },
  'call-parked': { type: 'call-parked', at: 2, call_id: 'c', wait: { from: null, deadline: 3 } },
  'call-asked': { type: 'call-asked', at: 2, ask },
  'ask-answered': { type: 'ask-answered', at: 2, ask_id: 'nobody', verdict: 'allow', note: '', by: 'you' },
  'question-withdrawn': { type: 'question-withdrawn', at: 2, ask_id: 'nobody' },
  capture: { type: 'capture', at: 2, content: { text: 'note' } },
  branch: { type: 'branch', at: 2, agents: [], text: 'forked' },
  'human-wait': { type: 'human-wait', at: 2, wait: { from: null, deadline: 9 } },
  'wait-ended': { type: 'wait-ended', at: 2, output: '{}', waited: { rows: [], cut: null } },
  'call-delegated': { type: 'call-delegated', at: 2, call_id: 'c', child: 'kid', consequences: [] },
  'child-result': { type: 'child-result', at: 2, child },
  cancel: { type: 'cancel', at: 2, by: 'you', reason: 'enough', open: [] },
  kill: { type: 'kill', at: 2, by: 'you' },
  model: { type: 'model', at: 2, model: 'p/m' },
  mode: { type: 'mode', at: 2, mode: 'plan' },
  workflows: { type: 'workflows', at: 2 },
  warn: { type: 'warn', at: 2, text: 'half of it is used' },
  elide: { type: 'elide', at: 2, through: 1, over: 500 },
  summarise: { type: 'summarise', at: 2 },
  compact: { type: 'compact', at: 2, note: '' },
  summarised: { type: 'summarised', at: 2, checkpoint: null },
  retry: { type: 'retry', at: 2 },
  limit: { type: 'limit', at: 2, limit: 'run time of 60 s', final: false },
  budget: { type: 'budget', at: 2, text: 'little is left', last: true },
  'clock-moved': { type: 'clock-moved', at: 2, by_ms: 1 },
  fault: { type: 'fault', at: 2, failure },
  resume: { type: 'resume', at: 2 },
};

type Next = AgentState['type'];
type Table = Record<AgentState['type'], Partial<Record<AgentEvent['type'], Next | undefined>>>;

/** The table of an agent whose outcome nobody awaits; an event that is not listed is an invalid transition. */
const OWN: Table = {
  idle: {
    input: 'requesting',
    compact: 'requesting',
    'human-wait': 'waiting',
    capture: 'idle',
    model: 'idle',
    mode: 'idle',
    'run-paused': 'idle',
    workflows: 'idle',
    warn: 'idle',
    branch: 'idle',
    'clock-moved': 'idle',
    fault: 'errored',
    kill: 'killed',
    resume: 'idle',
  },
  waiting: {
    'wait-ended': 'idle',
    capture: 'waiting',
    model: 'waiting',
    mode: 'waiting',
    'run-paused': 'waiting',
    workflows: 'waiting',
    warn: 'waiting',
    branch: 'waiting',
    cancel: 'idle',
    'clock-moved': 'waiting',
    fault: 'errored',
    kill: 'killed',
    resume: 'waiting',
  },
  requesting: {
    steer: 'requesting',
    'call-asked': 'requesting',
    elide: 'requesting',
    summarise: 'requesting',
    compact: 'requesting',
    capture: 'requesting',
    model: 'requesting',
    mode: 'requesting',
    'run-paused': 'requesting',
    workflows: 'requesting',
    warn: 'requesting',
    branch: 'requesting',
    response: 'idle',
    'request-failed': 'errored',
    cancel: 'idle',
    'clock-moved': 'requesting',
    fault: 'errored',
    kill: 'killed',
    limit: 'requesting',
    budget: 'requesting',
    held: 'requesting',
    paused: 'requesting',
    halt: 'requesting',
    resume: 'requesting',
  },
  executing: {
    'call-settled': 'awaiting',
    'call-parked': 'executing',
    'call-delegated': 'executing',
    halt: 'awaiting',
    'call-asked': 'executing',
    capture: 'executing',
    model: 'executing',
    mode: 'executing',
    'run-paused': 'executing',
    workflows: 'executing',
    warn: 'executing',
    branch: 'executing',
    'child-result': 'executing',
    cancel: 'cancelling',
    'clock-moved': 'executing',
    fault: 'errored',
    kill: 'killed',
    limit: 'requesting',
    resume: 'awaiting',
  },
  awaiting: {
    capture: 'awaiting',
    model: 'awaiting',
    mode: 'awaiting',
    'run-paused': 'awaiting',
    workflows: 'awaiting',
    warn: 'awaiting',
    branch: 'awaiting',
    'child-result': 'requesting',
    cancel: 'cancelling',
    'clock-moved': 'awaiting',
    fault: 'errored',
    kill: 'killed',
    limit: 'requesting',
    resume: 'awaiting',
  },
  cancelling: {
    capture: 'cancelling',
    model: 'cancelling',
    mode: 'cancelling',
    'run-paused': 'cancelling',
    workflows: 'cancelling',
    warn: 'cancelling',
    branch: 'cancelling',
    'child-result': 'idle',
    'clock-moved': 'cancelling',
    fault: 'errored',
    kill: 'killed',
    limit: 'idle',
    resume: 'cancelling',
  },
  errored: {
    compact: 'requesting',
    capture: 'errored',
    model: 'errored',
    mode: 'errored',
    'run-paused': 'errored',
    workflows: 'errored',
    warn: 'errored',
    branch: 'errored',
    'human-wait': 'waiting',
    input: 'requesting',
    retry: 'requesting',
    'clock-moved': 'errored',
    fault: 'errored',
    kill: 'killed',
    resume: 'errored',
  },
  completed: {},
  failed: {},
  killed: {},
};

/** The table of an agent that reports: its ends are terminal, a cancel is admitted in every state, and it waits only for its task. */
const REPORTING: Table = {
  ...OWN,
  idle: { ...OWN.idle, fault: 'failed', cancel: 'failed', 'human-wait': undefined },
  waiting: { ...OWN.waiting, fault: 'failed' },
  requesting: {
    ...OWN.requesting,
    fault: 'failed',
    response: 'completed',
    'request-failed': 'failed',
    cancel: 'failed',
  },
  executing: { ...OWN.executing, fault: 'failed' },
  awaiting: { ...OWN.awaiting, fault: 'failed' },
  cancelling: { ...OWN.cancelling, fault: 'failed', 'child-result': 'failed', limit: 'failed' },
  errored: { ...OWN.errored, fault: 'failed', cancel: 'failed', 'human-wait': undefined },
};

describe('the transition table', () => {
  for (const [who, table, reports] of [
    ['an agent of its own', OWN, false],
    ['an agent that reports', REPORTING, true],
  ] as const) {
    for (const state of Object.values(states)) {
      it(`${who}, ${state.type}`, () => {
        for (const event of Object.values(events)) {
          const expected = table[state.type][event.type];
          const next = decide(state, event, { reports, submits: false, turns: 5 });
          const found: Next | InvalidTransition = next.ok ? next.state.type : next.invalid;
          if (expected !== undefined) assert.equal(found, expected, `${state.type} + ${event.type}`);
          else assert.ok(!next.ok, `${state.type} + ${event.type} is not admitted`);
        }
      });
    }
  }
});
