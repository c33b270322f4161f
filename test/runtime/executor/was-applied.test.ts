// Proves how a worker decides whether a step whose acknowledgement was lost was applied: by the position of its messages, or by the state if it has none.
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
  // The step changes neither messages nor state, so nothing can prove that it was applied: it counts as not applied.
  assert.equal(applied(0, IDLE, { last_seq: 3, state: IDLE }), false);
});
