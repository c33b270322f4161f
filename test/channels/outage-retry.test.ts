// Proves that a query to a ledger that does not answer is repeated until it does or nobody waits for it, that no timer stays, and that an outage is told once.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LedgerRetry } from '../../src/channels/outbox/outage-retry.ts';

function stage() {
  const [told, timers]: [string[], (() => void)[]] = [[], []];
  const clock = {
    now: () => 0,
    after: (_: number, ring: () => void) => {
      timers.push(ring);
      return () => void timers.splice(timers.indexOf(ring), 1);
    },
  };
  return {
    told,
    timers,
    retry: new LedgerRetry(
      clock,
      () => 0.5,
      (_, text) => told.push(text),
    ),
  };
}

it('an outage of two queries is told once, and its end, and so is the next one', async () => {
  const { told, timers, retry } = stage();
  const { signal } = new AbortController();
  for (const _ of 'ab') {
    let failures = 2;
    const query = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('gone');
      return 'answer';
    };
    const answer = retry.untilAnswered(query, signal);
    while (failures >= 0) {
      await new Promise((soon) => setImmediate(soon));
      timers[0]?.();
    }
    assert.equal(await answer, 'answer');
  }
  const once = ['the ledger does not answer the outbox', 'the ledger can be reached again'];
  assert.deepEqual([told, timers.length], [[...once, ...once], 0]);
});

it('whoever gives up while a query is under way, or in the pause after it, leaves no timer', async () => {
  for (const pauses of [true, false]) {
    const { timers, retry } = stage();
    const stop = new AbortController();
    const query = () => (pauses ? Promise.reject(new Error('gone')) : new Promise<never>(() => undefined));
    const answer = retry.untilAnswered(query, stop.signal);
    await new Promise((soon) => setImmediate(soon));
    assert.equal(timers.length, pauses ? 1 : 0);
    stop.abort();
    assert.equal(await answer, undefined);
    assert.equal(timers.length, 0);
  }
});
