// Proves that it is noticed when approvals of an agent open and close, each of several agents by itself, and again when they do so again.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../src/records/agent/agent.ts';
import { type AgentState, newTurn } from '../../src/records/agent/state.ts';
import { AskWatch } from '../../src/trees/approvals.ts';

const asking = (id: string, ...asks: string[]) => {
  const state = { type: 'requesting', attempt: 1, turn: newTurn(1), asked: asks.map((ask) => ({ id: ask })) };
  return { id, state: state as unknown as AgentState } as Agent;
};

it('each time that others are open than before', () => {
  const watch = new AskWatch();
  const seen = [[], ['a'], ['a'], [], [], ['a'], ['a', 'b'], ['b'], [], []].map((asks) =>
    watch.changed(asking('one', ...asks)),
  );
  assert.deepEqual(seen, [false, true, false, true, false, true, true, true, true, false]);
});

it('of two agents, each by itself', () => {
  const watch = new AskWatch();
  assert.equal(watch.changed(asking('one', 'a')), true);
  assert.equal(watch.changed(asking('two', 'b')), true);
  assert.equal(watch.changed(asking('one')), true);
  assert.deepEqual([watch.changed(asking('two', 'b')), watch.changed(asking('one'))], [false, false]);
});
