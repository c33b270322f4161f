// Proves that waiting ends with its signal or its limit, that back-off doubles up to its bound, and that a poll runs one look at a time and misses no wake-up.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Poll } from '../../src/processes/poll.ts';
import { backOff, sleep, within } from '../../src/processes/waiting.ts';
import { ManualClock } from '../channels/manual-clock.ts';

const LONG_MS = 600_000;
const never = new AbortController().signal;

describe('sleep', () => {
  it('is true when the time is over, false as soon as the signal aborts', async () => {
    assert.equal(await sleep(5, never), true);
    assert.equal(await sleep(0, never), true);
    assert.equal(await sleep(LONG_MS, AbortSignal.timeout(5)), false);
    assert.equal(await sleep(LONG_MS, AbortSignal.abort()), false);
    assert.equal(await sleep(0, AbortSignal.abort()), false);
  });
});

describe('within', () => {
  it('tells what came first: the value, the signal or the limit', async () => {
    const endless = new Promise<never>(() => undefined);
    assert.deepEqual(await within(Promise.resolve(7), never, LONG_MS), { type: 'done', value: 7 });
    assert.deepEqual(await within(endless, AbortSignal.timeout(5), LONG_MS), { type: 'aborted' });
    assert.deepEqual(await within(endless, never, 5), { type: 'late' });
    assert.deepEqual(await within(Promise.resolve(7), AbortSignal.abort(), LONG_MS), { type: 'aborted' });
  });
});

describe('back-off', () => {
  it('doubles from attempt to attempt up to its maximum, with full jitter', () => {
    const bounds = { base_ms: 100, max_ms: 1_000 };
    const waits = [1, 2, 3, 4, 5, 5_000].map((tries) => backOff(tries, bounds, () => 0.5));
    assert.deepEqual(waits, [50, 100, 200, 400, 500, 500]);
    assert.equal(
      backOff(3, bounds, () => 0),
      0,
    );
    for (let run = 0; run < 100; run += 1) assert.ok(backOff(1, bounds) < 100);
  });
});

describe('a poll', () => {
  it('polls when it is woken, and again after the delay that the last poll asked for', async () => {
    const clock = new ManualClock();
    const delays = [300, 50, 1_000];
    const looks: number[] = [];
    const start = clock.now();
    const poll = new Poll(async () => {
      looks.push(clock.now() - start);
      return delays[looks.length - 1] ?? LONG_MS;
    }, clock);
    await clock.pass(10);
    assert.deepEqual(looks, [], 'not before it was woken');
    poll.wake();
    await clock.pass(500);
    assert.deepEqual(looks, [10, 310, 360]);
    poll.wake();
    await clock.pass(900);
    assert.deepEqual(looks, [10, 310, 360, 510], 'the delay before the wake counts no more');
    await poll.stop();
    assert.equal(clock.waiting, 0);
  });

  it('polls once at a time, and once more however often it was woken meanwhile', async () => {
    const clock = new ManualClock();
    const ends: (() => void)[] = [];
    const poll = new Poll(async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return LONG_MS;
    }, clock);
    for (let wakes = 0; wakes < 3; wakes += 1) poll.wake();
    assert.equal(ends.length, 1);
    poll.wake();
    ends[0]?.();
    await clock.settle();
    assert.equal(ends.length, 2);
    ends[1]?.();
    await clock.settle();
    assert.equal(ends.length, 2);
    await poll.stop();
  });

  it('stops when its poll has ended, and polls no more', async () => {
    const clock = new ManualClock();
    const { promise, resolve } = Promise.withResolvers<void>();
    let looks = 0;
    const poll = new Poll(async () => {
      looks += 1;
      await promise;
      return 0;
    }, clock);
    poll.wake();
    poll.wake();
    let stopped = false;
    const stopping = poll.stop().then(() => {
      stopped = true;
    });
    await clock.settle();
    assert.equal(stopped, false);
    resolve();
    await stopping;
    poll.wake();
    await clock.pass(LONG_MS);
    assert.equal(looks, 1);
  });
});
