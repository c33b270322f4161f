// Proves what a worker makes of a step whose acknowledgement was lost: whether the ledger has it follows from the place of its messages, and without any from the state.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Step } from '../../../src/kernel/step.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import { wasApplied } from '../../../src/runtime/executor/group-commit.ts';

const IDLE: AgentState = { type: 'idle' };
const ASKING: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(1) };
const message = { kind: 'user', content: { origin: 'human', text: 'x' } } as const;

function applied(count: number, to: AgentState, now: { last_seq: number; state: AgentState }): boolean {
  const step = { base_seq: 3, messages: Array.from({ length: count }, () => message), state: to };
  return wasApplied(step as never as Step, { last_seq: 3, state: IDLE } as Agent, now as Agent);
}

it('with messages: applied if they are in place, whether or not the state changed', () => {
  assert.equal(applied(2, IDLE, { last_seq: 5, state: IDLE }), true);
  assert.equal(applied(2, ASKING, { last_seq: 5, state: ASKING }), true);
  for (const last_seq of [3, 4, 6]) assert.equal(applied(2, ASKING, { last_seq, state: ASKING }), false);
});

it('without messages: applied if the state became that of the step', () => {
  assert.equal(applied(0, ASKING, { last_seq: 3, state: structuredClone(ASKING) }), true);
  assert.equal(applied(0, ASKING, { last_seq: 3, state: IDLE }), false);
  assert.equal(applied(0, ASKING, { last_seq: 4, state: ASKING }), false);
  // It changes none, so nothing tells: the ledger's word is taken.
  assert.equal(applied(0, IDLE, { last_seq: 3, state: IDLE }), false);
});
