// Proves that a process uses the ledger's time, whatever its own clock says, and that steps of either clock, sleep and stops are no time in which it worked.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { ledgerTime } from '../../../src/runtime/leading/ledger-time.ts';
import { SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { closeOpened } from '../../close-opened.ts';
import { NO_POLLS } from '../no-polls.ts';
import { setStage } from '../stage.ts';

afterEach(closeOpened);

const HOUR_MS = 3_600_000;

it('continues a turn of another process by the clock of the ledger', {
  skip: NO_POLLS && 'a stage without polls has a clock of its own, which is taken for the ledger’s',
}, async () => {
  for (const off_ms of [HOUR_MS, -HOUR_MS]) {
    const stage = await setStage(() => 'done', { wrap: (store) => withClock(store, off_ms) });
    const agent = await stage.start();
    const difference = agent.created_at - (Date.now() + off_ms);
    assert.ok(Math.abs(difference) < HOUR_MS / 2, `${difference} ms from the ledger's time`);
    const { failure, reply } = await stage.runtime.settled(agent.id);
    assert.equal(failure, null);
    assert.equal(reply, 'done');
    await stage.close();
  }
});

/** The clocks of a ledger and of this process, set by the test: `wall` can be set, `lap` cannot, `pause_ms` is what the ledger takes to answer. */
async function clocks() {
  const is = { there: HOUR_MS, wall: HOUR_MS, lap: 0.5, away: false, pause_ms: 0 };
  /** Lets time pass in which the process looks at its clock once a second. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      for (const name of ['there', 'wall', 'lap'] as const) is[name] += Math.min(left, 1_000);
      clock.now();
      await settled();
    }
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const store = {
    now: async () => {
      if (is.away) throw new Error('away');
      for (const name of ['there', 'wall', 'lap'] as const) is[name] += is.pause_ms;
      return is.there;
    },
  };
  const open = () => ledgerTime(store, { ...SYSTEM_RUNTIME_CLOCK, now: () => is.wall, lap: () => is.lap });
  const clock = await open();
  /** What `catchUp` returns once the ledger has been asked. */
  const step = async () => {
    clock.now();
    await settled();
    return clock.catchUp?.();
  };
  return {
    is,
    open,
    pass,
    settled,
    step,
    now: clock.now,
    stoodStill: (since: number) => clock.stoodStill?.(since),
  };
}

it('a step of the ledger’s clock and this machine’s, ahead or back, moves no time before catchUp, which tells it', async () => {
  for (const by_ms of [1_200_000, 2 * HOUR_MS, 48 * HOUR_MS, -2 * HOUR_MS]) {
    const { is, pass, step, now, stoodStill } = await clocks();
    await pass(5_000);
    const before = now();
    is.there += by_ms;
    is.wall += by_ms;
    await pass(3_000);
    assert.equal(now(), before + 3_000);
    assert.equal(await step(), by_ms);
    assert.equal(now(), is.there);
    assert.equal(await step(), 0, 'it is told once');
    assert.equal(stoodStill(before), Math.max(0, by_ms));
    assert.equal(stoodStill(now()), 0);
  }
});

it('a step of this machine’s clock alone, as with a server of PostgreSQL, is none', async () => {
  const { is, pass, step, now } = await clocks();
  await pass(5_000);
  is.wall += 2 * HOUR_MS;
  await pass(3_000);
  assert.equal(await step(), 0);
  assert.equal(now(), is.there);
});

it('a step of the ledger’s clock alone is noticed within a minute', async () => {
  const { is, pass, step, now } = await clocks();
  is.there -= HOUR_MS;
  await pass(58_000);
  assert.equal(await step(), 0);
  await pass(4_000);
  assert.equal(await step(), -HOUR_MS);
  assert.equal(now(), is.there);
});

it('a stop of the process does not count, nor sleep during which the monotonic clock goes on', async () => {
  const { is, pass, settled, step, now } = await clocks();
  await pass(5_000);
  const before = now();
  for (const name of ['there', 'wall', 'lap'] as const) is[name] += 8 * HOUR_MS;
  assert.equal(now(), before);
  await settled();
  await pass(2_000);
  assert.equal(now(), before + 2_000);
  assert.equal(await step(), 8 * HOUR_MS);
  assert.equal(now(), is.there);
});

it('ignores a difference of a second, which may be the round trip to the ledger, until differences add up', async () => {
  const { is, pass, step, now } = await clocks();
  for (const drift_ms of [1_000, -1_000, -1_000]) {
    await pass(61_000);
    is.there += drift_ms;
    assert.equal(await step(), 0);
  }
  is.there -= 1;
  await pass(61_000);
  assert.equal(await step(), -1_001);
  assert.equal(now(), is.there);
});

it('while the ledger cannot be reached, nothing changes, and it is asked again; at the start, that is an error', async () => {
  const { is, open, pass, step, now } = await clocks();
  await pass(5_000);
  is.away = true;
  is.wall += 2 * HOUR_MS;
  is.there += 2 * HOUR_MS;
  const before = now();
  await pass(3_000);
  assert.equal(await step(), 0);
  assert.equal(now(), before + 3_000);
  await assert.rejects(open(), /away/);
  is.away = false;
  await pass(3_000);
  assert.equal(await step(), 2 * HOUR_MS);
});

it('a measurement with a long round trip changes nothing, unless it is the first', async () => {
  const { is, open, pass, step } = await clocks();
  await pass(5_000);
  is.wall += HOUR_MS;
  is.there += HOUR_MS;
  is.pause_ms = 5_000;
  assert.equal(await step(), 0);
  is.pause_ms = 0;
  await pass(3_000);
  assert.equal(await step(), HOUR_MS);
  is.pause_ms = 6_000;
  is.there += HOUR_MS;
  assert.equal((await open()).now(), is.there + 3_000);
});

/** A store whose ledger's clock is off by `off_ms`. */
function withClock(store: Store, off_ms: number): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'now') return async () => Date.now() + off_ms;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
