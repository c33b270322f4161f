// Proves what the ledger is told of a request that waits to be sent: the newest reason only, after a second, and nothing once it was sent or has ended.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Held } from '../../../src/records/agent/state.ts';
import type { Cell } from '../../../src/runtime/executor/cell.ts';
import type { Executor } from '../../../src/runtime/executor/executor.ts';
import { heldRequest } from '../../../src/runtime/performing/held-request.ts';
import type { RuntimeClock } from '../../../src/runtime/runtime-clock.ts';

const waiting = (reason: string, delay_ms: number | null) => ({ type: 'waiting', reason, delay_ms }) as const;

function stage() {
  const told: (Held | null)[] = [];
  const rings = new Set<() => void>();
  const cell = { request: {} } as unknown as Cell;
  const executor = {
    happened: (_: Cell, event: { readonly held: Held | null }) => told.push(event.held),
  } as unknown as Executor;
  const clock = {
    now: () => 5_000,
    after: (_: number, ring: () => void) => {
      rings.add(ring);
      return () => rings.delete(ring);
    },
  } as unknown as RuntimeClock;
  const pass = () => {
    for (const ring of [...rings]) ring();
    rings.clear();
  };
  return { told, pass, hear: heldRequest(cell, { executor, clock }) };
}

it('of two waits without an end only the second is written', () => {
  const { told, pass, hear } = stage();
  hear(waiting('queue of 3', null));
  hear(waiting('queue of 2', null));
  pass();
  assert.deepEqual(told, [{ text: 'queue of 2', until: null }]);
});

for (const end of [{ type: 'sent' } as const, null])
  it(`a wait that is over before it was written is never written: ${end === null ? 'ended' : 'sent'}`, () => {
    const { told, pass, hear } = stage();
    hear(waiting('queue', null));
    hear(end);
    pass();
    assert.deepEqual(told, []);
  });

it('a wait that was written is taken back once, however often its end is told, and a second one is written again', () => {
  const { told, hear } = stage();
  hear(waiting('slow down', 1_000));
  hear({ type: 'sent' });
  hear(null);
  hear(waiting('short', 999));
  hear(waiting('slower', 2_000));
  hear(null);
  hear(null);
  assert.deepEqual(told, [{ text: 'slow down', until: 6_000 }, null, { text: 'slower', until: 7_000 }, null]);
});
