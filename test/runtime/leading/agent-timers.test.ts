// Proves that a timer of an agent that is set again replaces the one before, and that timers of different names do not.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import type { Executor } from '../../../src/runtime/executor/executor.ts';
import { AgentTimers } from '../../../src/runtime/leading/agent-timers.ts';
import { StoppedClocks } from '../../../src/runtime/leading/stopped-clocks.ts';
import { HandClock } from '../hand-clock.ts';

it('rings once, at the newest time, each time that it is set', () => {
  const clock = new HandClock();
  const woken: Cell[] = [];
  const wake = (cell: Cell) => void woken.push(cell);
  const executor = { wake, isStepping: () => false } as unknown as Executor;
  const timers = new AgentTimers(executor, clock, new StoppedClocks());
  const [one, two] = [{}, {}].map(() => ({ timers: new Map(), gone: false }) as unknown as Cell);
  assert.ok(one && two);
  for (let round = 1; round <= 2; round += 1) {
    const now = clock.now();
    for (const after_ms of [10_000, 30_000, 20_000]) timers.wakeAt(one, 'wait', now + after_ms);
    timers.wakeAt(one, 'other', now + 25_000);
    timers.wakeAt(two, 'wait', now + 15_000);
    const wakes: string[] = [];
    for (let passed_ms = 5_000; passed_ms <= 40_000; passed_ms += 5_000) {
      clock.pass(5_000);
      for (const cell of woken.splice(0)) wakes.push(`${passed_ms} ${cell === one ? 'one' : 'two'}`);
    }
    assert.deepEqual(wakes, ['15000 two', '20000 one', '25000 one']);
    assert.equal(one.timers.size + two.timers.size, 0);
  }
  timers.wakeAt(one, 'wait', clock.now() + 1_000);
  Object.assign(one, { gone: true });
  clock.pass(2_000);
  assert.equal(woken.length, 0, 'an agent that is led no more is not woken');
});
