// Proves how long work rests: in proportion to its duration, at most five seconds, and not at all after a failure.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setImmediate as soon } from 'node:timers/promises';
import { PacedWork } from '../../../src/serve/stream/paced-work.ts';

const RETRY_MS = 1_000;

/** A clock that the test moves; `works` returns work of that duration. */
function clockOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = Math.round(performance.now());
  t.mock.method(performance, 'now', () => now);
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    await soon();
  };
  const works =
    (ms: number, fails = false) =>
    async () => {
      now += ms;
      if (fails) throw new Error('no answer');
    };
  return { pass, works };
}

for (const [took_ms, rest_ms] of [
  [20, 400],
  [15_000, 5_000],
] as const)
  it(`rests ${rest_ms} ms after ${took_ms} ms`, async (t) => {
    const { pass, works } = clockOf(t);
    const work = new PacedWork(RETRY_MS);
    await work.now('look', works(took_ms));
    let runs = 0;
    work.soon('look', 100, async () => {
      runs += 1;
    });
    await pass(rest_ms - 1);
    assert.equal(runs, 0);
    await pass(1);
    assert.equal(runs, 1);
    await work.stop();
  });

it('is retried soon after a failure, however long that took', async (t) => {
  const { pass, works } = clockOf(t);
  const work = new PacedWork(RETRY_MS);
  let runs = 0;
  const fail = works(15_000, true);
  work.soon('look', 100, () => {
    runs += 1;
    return fail();
  });
  await pass(100);
  assert.equal(runs, 1);
  await pass(RETRY_MS);
  assert.equal(runs, 2);
  await work.stop();
});

it('of two requests of one name the earlier counts, whichever came first, and the work runs once', async (t) => {
  for (const [first_ms, second_ms] of [
    [500, 100],
    [100, 500],
  ] as const) {
    const { pass } = clockOf(t);
    const work = new PacedWork(RETRY_MS);
    let runs = 0;
    const count = async () => {
      runs += 1;
    };
    work.soon('look', first_ms, count);
    work.soon('look', second_ms, count);
    await pass(100);
    assert.equal(runs, 1);
    await pass(900);
    assert.equal(runs, 1);
    await work.stop();
    t.mock.reset();
  }
});

it('a stop waits for what is under way, and nothing that was asked for begins afterwards; the same again', async (t) => {
  const { pass } = clockOf(t);
  const work = new PacedWork(RETRY_MS);
  const { promise, resolve } = Promise.withResolvers<void>();
  const done: string[] = [];
  const under_way = work.now('look', async () => {
    await promise;
    done.push('looked');
  });
  work.soon('tidy', 100, async () => void done.push('tidied'));
  const stopped = work.stop().then(() => done.push('stopped'));
  resolve();
  await Promise.all([under_way, stopped, work.stop()]);
  await pass(1_000);
  assert.deepEqual(done, ['looked', 'stopped']);
});

it('what fails while it is stopped is not tried again, and later work is', async (t) => {
  const { pass } = clockOf(t);
  const work = new PacedWork(RETRY_MS);
  const { promise, reject } = Promise.withResolvers<void>();
  let runs = 0;
  work.soon('look', 100, () => {
    runs += 1;
    return promise;
  });
  await pass(100);
  const stopped = work.stop();
  reject(new Error('the ledger was closed'));
  await stopped;
  await pass(RETRY_MS);
  assert.equal(runs, 1);
  work.soon('look', 100, async () => {
    runs += 1;
    if (runs === 2) throw new Error('no answer');
  });
  await pass(100);
  await pass(RETRY_MS);
  assert.equal(runs, 3);
  await work.stop();
});
