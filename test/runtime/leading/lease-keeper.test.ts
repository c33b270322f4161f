// Proves that a worker which stops is gone: a heartbeat that is under way does not come after its release.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LeaseKeeper } from '../../../src/runtime/leading/lease-keeper.ts';
import type { RuntimeClock } from '../../../src/runtime/runtime-clock.ts';
import type { Store, Worker } from '../../../src/store/store.ts';

it('a release waits for the heartbeat under way', async () => {
  const order: string[] = [];
  const ticks: (() => void)[] = [];
  let answer: () => void = () => undefined;
  const keeper = new LeaseKeeper({
    store: {
      heartbeat: async () => {
        order.push('asks');
        if (order.length > 1)
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
        order.push('renewed');
        return true;
      },
      listen: async () => async () => undefined,
      release: async () => void order.push('released'),
    } as Partial<Store> as Store,
    worker: { id: 'worker' } as Worker,
    clock: {
      every: (_ms: number, tick: () => void) => {
        ticks.push(tick);
        return () => undefined;
      },
    } as Partial<RuntimeClock> as RuntimeClock,
    onSignals: async () => undefined,
    onLost: () => order.push('lost'),
    onEnding: () => undefined,
  });
  await keeper.start();
  // The first is the end of the lease, the second the beat.
  ticks[1]?.();
  const stopped = keeper.stop();
  setImmediate(() => answer());
  await stopped;
  assert.deepEqual(order, ['asks', 'renewed', 'asks', 'renewed', 'released']);
});
