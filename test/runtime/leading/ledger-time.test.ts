// Proves that a process whose clock is an hour off uses the ledger's time: it neither ends turns early nor writes times of its own clock.
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

/** The clock of a ledger and that of this process, both set by the test. */
async function clocks() {
  const is = { there: HOUR_MS, own: HOUR_MS, away: false, pause_ms: 0 };
  const store = {
    now: async () => {
      if (is.away) throw new Error('away');
      is.own += is.pause_ms;
      is.there += is.pause_ms;
      return is.there;
    },
  };
  const open = () => ledgerTime(store, { ...SYSTEM_RUNTIME_CLOCK, now: () => is.own });
  const { now } = await open();
  /** The time at this check, and the time after the answer of the query that the check may have started. */
  const look = async () => {
    const at = now();
    await new Promise((resolve) => setImmediate(resolve));
    return [at, now()];
  };
  return { is, open, look };
}

it('a clock change, ahead or back, is noticed at the first check after a minute', async () => {
  const { is, look } = await clocks();
  is.own += 60_000;
  is.there += 65_000;
  assert.deepEqual(await look(), [is.own, is.own]);
  is.own += 1;
  assert.deepEqual(await look(), [is.own, is.there]);
  is.own -= HOUR_MS / 2;
  assert.deepEqual(await look(), [is.own + 4_999, is.there]);
});

it('ignores a difference of a second, which may be the round trip to the ledger', async () => {
  const { is, look } = await clocks();
  for (const difference of [1_000, -1_000, 1_001, -1_001]) {
    is.own += 60_001;
    is.there = is.own + difference;
    const [, at] = await look();
    assert.equal(at, Math.abs(difference) > 1_000 ? is.there : is.own);
  }
});

it('a ledger that becomes unreachable changes nothing; one that is unreachable at the start is an error', async () => {
  const { is, look, open } = await clocks();
  is.own += 2 * HOUR_MS;
  is.there += HOUR_MS;
  await look();
  is.away = true;
  is.own += 120_000;
  assert.deepEqual(await look(), [is.own - HOUR_MS, is.own - HOUR_MS]);
  await assert.rejects(open(), /away/);
});

it('a measurement with a long round trip changes nothing, unless it is the first', async () => {
  const { is, look, open } = await clocks();
  for (const ahead_ms of [0, 5_000]) {
    is.own += 60_001;
    is.there = is.own + ahead_ms;
    assert.equal((await look())[1], is.there);
    is.pause_ms = 10_000;
    is.own += 60_001;
    is.there += 60_001;
    assert.equal((await look())[1], is.there);
    is.pause_ms = 0;
  }
  is.pause_ms = 10_000;
  is.there = is.own + HOUR_MS;
  assert.equal((await open()).now(), is.there + 5_000);
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
