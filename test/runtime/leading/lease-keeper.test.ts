// Proves that a stopped worker is gone: a heartbeat in progress does not complete after its release, and it no longer listens; that signals are
// read one pass at a time, with one more pass for all hints that came meanwhile; and that leading does not keep a process alive.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LeaseKeeper, type LeaseKeeperOptions } from '../../../src/runtime/leading/lease-keeper.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import type { Store, Worker } from '../../../src/store/store.ts';

interface Kept {
  readonly keeper: LeaseKeeper;
  /** Calls to the ledger, in order. */
  readonly order: string[];
  /** Timer callbacks, in the order in which they were set: the end of the lease, the heartbeat, the poll. */
  readonly rings: (() => void)[];
  /** Indexes of the timers that are still set. */
  readonly live: Set<number>;
  /** Simulates a wake-up from the ledger. */
  readonly hint: () => void;
}

async function keep(
  heartbeat: (order: string[]) => Promise<void>,
  over: Partial<LeaseKeeperOptions> = {},
): Promise<Kept> {
  const [order, rings]: [string[], (() => void)[]] = [[], []];
  const live = new Set<number>();
  let hint = () => {};
  const keeper = new LeaseKeeper({
    store: {
      heartbeat: async () => {
        await heartbeat(order);
        order.push('renewed');
        return true;
      },
      listen: async (_id, wake) => {
        hint = wake;
        return async () => void order.push('listens no more');
      },
      release: async () => void order.push('released'),
    } as Partial<Store> as Store,
    worker: { id: 'worker' } as Worker,
    clock: {
      lap: () => performance.now(),
      every: (_ms: number, ring: () => void) => {
        const place = rings.push(ring) - 1;
        live.add(place);
        return () => live.delete(place);
      },
    } as Partial<RuntimeClock> as RuntimeClock,
    onSignals: async () => undefined,
    onLost: () => order.push('lost'),
    onEnding: () => undefined,
    ...over,
  });
  await keeper.start();
  return { keeper, order, rings, live, hint: () => hint() };
}

it('a release waits for the heartbeat under way', async () => {
  let answer: () => void = () => undefined;
  const { keeper, order, rings } = await keep(async (order) => {
    order.push('asks');
    if (order.length > 1)
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
  });
  rings[1]?.();
  const stopped = keeper.stop();
  setImmediate(() => answer());
  await stopped;
  assert.deepEqual(order, ['asks', 'renewed', 'asks', 'renewed', 'listens no more', 'released']);
});

it('signals are read in one pass at a time, and once more however many hints came meanwhile', async () => {
  const ends: (() => void)[] = [];
  const onSignals = () => new Promise<void>((resolve) => ends.push(resolve));
  const { keeper, rings, hint } = await keep(async () => undefined, { onSignals });
  hint();
  hint();
  rings[2]?.();
  const passes: number[] = [];
  for (let pass = 0; pass < 3; pass += 1) {
    passes.push(ends.length);
    ends[pass]?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(passes, [1, 2, 2]);
  hint();
  assert.equal(ends.length, 3);
  ends[2]?.();
  await keeper.stop();
});

it('each beat renews the lease, unless that of the beat before is still under way', async () => {
  const { keeper, order, rings } = await keep(async () => undefined);
  const beat = rings[1] as () => void;
  for (const renewed of [2, 3]) {
    beat();
    beat();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(order, Array(renewed).fill('renewed'));
  }
  await keeper.stop();
});

it('the newest renewal tells when the lease ends; one that fails is told, and changes nothing else', async () => {
  let [fails, passes] = [false, 0];
  const heartbeat = async () => {
    if (fails) throw new Error('the ledger is away');
  };
  const onSignals = async () => {
    passes += 1;
  };
  const { keeper, order, rings, live } = await keep(heartbeat, { onSignals });
  const beat = async () => {
    rings[1]?.();
    await new Promise((resolve) => setImmediate(resolve));
    return [[...live], order.at(-1), passes];
  };
  assert.deepEqual(await beat(), [[1, 2, 3], 'renewed', 0]);
  fails = true;
  assert.deepEqual(await beat(), [[1, 2, 3], 'lost', 1]);
  await keeper.stop();
  assert.deepEqual([...live], []);
});

it('a lease is certain while heartbeats arrive; after a silence, only once others had time to renew theirs', async () => {
  let [time, alive, took_ms] = [0, true, 0];
  const store = {
    heartbeat: async () => {
      time += took_ms;
      return alive;
    },
    listen: async () => async () => undefined,
    release: async () => undefined,
  } as Partial<Store> as Store;
  const rings: (() => void)[] = [];
  const every = (_ms: number, ring: () => void) => {
    rings.push(ring);
    return () => undefined;
  };
  const clock = { lap: () => time, every } as Partial<RuntimeClock> as RuntimeClock;
  const { keeper } = await keep(async () => undefined, { store, clock });
  const beatAt = async (at: number) => {
    time = at;
    rings[1]?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const holdsAt = (...times: number[]) =>
    times.map((at) => {
      time = at;
      return keeper.holds();
    });
  await beatAt(3_000);
  assert.deepEqual(holdsAt(3_000, 9_000, 9_400), [true, true, false]);
  await beatAt(11_000);
  assert.deepEqual(holdsAt(11_000, 15_900, 16_100), [false, false, true]);
  // Renewed in time, but the ledger says that it had run out.
  alive = false;
  await beatAt(16_500);
  alive = true;
  await beatAt(19_000);
  assert.deepEqual(holdsAt(19_000, 21_600), [false, true]);
  // The answer to the heartbeat came after the lease that it renewed had run out.
  took_ms = 9_500;
  await beatAt(22_000);
  assert.deepEqual(holdsAt(31_500, 36_600), [false, false]);
  await keeper.stop();
});

it('none of its timers keeps the process alive', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const before = timers();
  const { keeper } = await keep(async () => undefined, { clock: SYSTEM_RUNTIME_CLOCK });
  assert.equal(timers(), before);
  await keeper.stop();
});
