// Proves that a process whose clock is an hour off keeps the ledger's time: it neither ends the turns of others early nor writes times of its own.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { setStage } from '../stage.ts';

const HOUR_MS = 3_600_000;

it('goes on with a turn that another process began by the ledger’s clock', async () => {
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

/** A ledger on another machine. */
function withClock(store: Store, off_ms: number): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'now') return async () => Date.now() + off_ms;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
