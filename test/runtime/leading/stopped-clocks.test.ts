// Proves that time stands still for the agents above a paused one, once where pauses overlap, and again at the next pause.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import { AgentIndex } from '../../../src/runtime/executor/agent-index.ts';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import { StoppedClocks } from '../../../src/runtime/leading/stopped-clocks.ts';

/** A root at work above agents whose pauses begin and end; the time by which its clock was moved. */
function family() {
  const agent_index = new AgentIndex();
  const clocks = new StoppedClocks();
  let moved_ms = 0;
  const agent = (id: string, at: number, since: number | null): Agent => {
    const paused = since === null ? {} : { paused: { at: since } };
    const state = { type: 'requesting', attempt: 1, turn: newTurn(1), ...paused } as AgentState;
    const parent_id = id === 'root' ? null : 'root';
    return {
      id,
      name: id,
      parent_id,
      root_id: 'root',
      epoch: 1,
      last_seq: 0,
      updated_at: at,
      state,
    } as Agent;
  };
  const root = agent('root', 0, null);
  agent_index.set(root);
  const cells = new Map([['root', { agent: root } as Cell]]);
  const happened = (_: Cell, event: { readonly type: string }) => {
    if ('by_ms' in event) moved_ms += Number(event.by_ms);
  };
  const see = (one: Agent) => {
    agent_index.set(one);
    clocks.see(one, { agent_index, cells, happened });
  };
  return {
    pause: (id: string, at: number) => see(agent(id, at, at)),
    end: (id: string, at: number) => see(agent(id, at, null)),
    moved: () => moved_ms,
  };
}

it('pauses that overlap count once, whichever ends first', () => {
  const { pause, end, moved } = family();
  pause('a', 100);
  pause('b', 150);
  end('a', 200);
  assert.equal(moved(), 100);
  end('b', 300);
  assert.equal(moved(), 200);
});

it('a pause within another one adds nothing, and takes nothing away', () => {
  const { pause, end, moved } = family();
  pause('a', 100);
  pause('b', 150);
  end('b', 180);
  end('a', 300);
  assert.equal(moved(), 200);
});

it('pauses that are seen in another order than they began, as after a take-over, count from the first', () => {
  const { pause, end, moved } = family();
  pause('b', 150);
  pause('a', 100);
  end('b', 200);
  pause('c', 180);
  end('a', 300);
  end('c', 400);
  assert.equal(moved(), 300);
});

it('the next pause counts again, also of the same agent', () => {
  const { pause, end, moved } = family();
  for (const at of [100, 1_000]) {
    pause('a', at);
    end('a', at + 50);
    end('a', at + 60);
  }
  assert.equal(moved(), 100);
});
