// Proves which edges an agent has that waits in several ways at once: one for each awaited agent, which lasts as long as the longest of its waits.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sameWaits, waitEdges, waitsUntil } from '../../../src/kernel/mailbox/wait-edges.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';

type Running = readonly {
  readonly wait?: readonly [deadline: number, ...from: string[]];
  readonly child?: string;
}[];

function executing(
  running: Running,
  spawned: readonly string[] = [],
  early: readonly string[] = [],
): AgentState {
  return {
    type: 'executing',
    turn: newTurn(1),
    running: running.map(({ wait, child }, at) => ({
      call: { id: `c${at}`, name: 'wait', input: '{}' },
      ...(child === undefined ? {} : { child }),
      ...(wait === undefined ? {} : { wait: { deadline: wait[0], from: wait.slice(1) } }),
    })),
    spawned: spawned.map((agent_id) => ({ agent_id, task: 't' })),
    early: early.map((agent_id) => ({ agent_id, outcome: { type: 'success', result: '' } })),
  } as unknown as AgentState;
}

it('two waits for one agent are one edge, until the later deadline, whichever comes first', () => {
  for (const waits of [
    [5, 9],
    [9, 5],
  ] as const) {
    const state = executing(waits.map((deadline) => ({ wait: [deadline, 'a'] })));
    assert.deepEqual([waitEdges(state), waitsUntil(state)], [['a'], { a: 9 }]);
  }
});

it('an agent that is awaited without an end, too, has no deadline, until it has reported', () => {
  const timed = { wait: [5, 'a', 'b', 'c'] } as const;
  assert.deepEqual(waitsUntil(executing([timed, { child: 'a' }], ['b'])), { c: 5 });
  assert.deepEqual(waitsUntil(executing([timed], ['b'], ['b'])), { a: 5, b: 5, c: 5 });
  assert.deepEqual(waitEdges(executing([timed, { child: 'd' }], ['b', 'e'])), ['a', 'b', 'c', 'd', 'e']);
});

it('a second wait changes the waits only if it changes an edge or how long one lasts', () => {
  const one = executing([{ wait: [5, 'a'] }]);
  const same = (other: AgentState) => [sameWaits(one, other), sameWaits(other, one)];
  assert.deepEqual(same(executing([{ wait: [5, 'a'] }, { wait: [4, 'a'] }])), [true, true]);
  assert.deepEqual(same(executing([{ wait: [5, 'a'] }, { wait: [6, 'a'] }])), [false, false]);
  assert.deepEqual(same(executing([{ wait: [5, 'a'] }, { child: 'a' }])), [false, false]);
  assert.deepEqual(same(executing([{ wait: [5, 'a'] }, { wait: [5, 'b'] }])), [false, false]);
});
