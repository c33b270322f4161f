// Proves that a paused request is tried once, however many say that its provider is open before it is sent, and again once it was.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import type { Executor } from '../../../src/runtime/executor/executor.ts';
import { followTry } from '../../../src/runtime/performing/await-provider.ts';
import { SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';

const PAUSED: AgentState = {
  ...{ type: 'requesting', attempt: 1, turn: newTurn(0) },
  paused: {
    ...{ spent: 'quota', door: 'd', text: "p's quota", tries: 0, opens_at: 1, at: 0 },
    failure: { kind: 'rate_limit', error: '429', retryable: true },
  },
};

function paused() {
  const events: AgentEvent['type'][] = [];
  const cell = { agent: { state: PAUSED }, request: null } as unknown as Cell;
  const executor = {
    cells: new Map([['a', cell]]),
    happened: (_: Cell, { type }: AgentEvent) => events.push(type),
  } as unknown as Executor;
  return { events, cell, follow: () => followTry(['d'], null, { executor, clock: SYSTEM_RUNTIME_CLOCK }) };
}

it('is tried once for several reasons', () => {
  const { events, follow } = paused();
  follow();
  follow();
  assert.deepEqual(events, ['reopen'], 'the second one would be sent beside the first, or after its answer');
});

it('is not tried while it is under way, and anew after it was sent', () => {
  const { events, cell, follow } = paused();
  cell.request = new AbortController();
  follow();
  assert.deepEqual(events, []);
  [cell.request, cell.reopened] = [null, null];
  follow();
  assert.deepEqual(events, ['reopen']);
});
