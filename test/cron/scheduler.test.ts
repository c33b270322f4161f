// Proves that several servers on one ledger fire each instant of a schedule once and lose none, whatever their clocks do, even if they jump.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import { fireJob } from '../../src/cron/begin-run.ts';
import { nextInstant } from '../../src/cron/schedule/next-instant.ts';
import type { Scheduler } from '../../src/cron/scheduler.ts';
import type { NewCronJob, Schedule } from '../../src/records/run/cron-job.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { DEEP } from '../house/deep.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { newRoot } from '../store/ledger-fixture.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { endRuns, enter, jobOf, schedulers } from './cron-stage.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const BERLIN = 'Europe/Berlin';
const cron = (expression: string, tz = BERLIN): Schedule => ({ type: 'cron', expression, tz });

onBothDatabases('schedules', (database) => {
  const folder = temporaryFolder();
  const stores: Store[] = [];
  let servers: Scheduler[];
  let store: Store;

  before(async () => {
    const url = (await database()) ?? `sqlite:${join(folder, 'ledger.db')}`;
    for (let n = 0; n < 4; n += 1) stores.push(await openStore(url));
    servers = schedulers(stores);
    store = stores[0] as Store;
  });
  after(async () => {
    for (const one of stores) await one.close();
  });

  /** All servers check at once, with this time. */
  async function look(now: number): Promise<void> {
    await Promise.all(servers.map((server) => server.tick(now)));
    await endRuns(store);
  }

  async function firedOf(job: NewCronJob): Promise<number[]> {
    const fires = await store.fires(job.id, 100_000);
    for (const fire of fires) assert.equal(fire.outcome, 'fired');
    const runs = (await store.runs({ job_id: job.id })).map((run) => run.id);
    assert.deepEqual(
      fires.map((fire) => fire.run_id).toSorted(),
      runs.toSorted(),
      'each instant has its own run',
    );
    return fires.map((fire) => fire.instant).toSorted((a, b) => a - b);
  }

  function instantsOf(schedule: Schedule, from: number, until: number): number[] {
    const instants: number[] = [];
    for (let at = nextInstant(schedule, from); at !== null && at <= until; at = nextInstant(schedule, at))
      instants.push(at);
    return instants;
  }

  async function remove(...jobs: readonly NewCronJob[]): Promise<void> {
    for (const job of jobs) await store.removeJob(job.id);
  }

  it('four servers fire every instant once, across both edges of daylight saving', async () => {
    for (const edge of ['2026-03-29T00:00Z', '2026-10-25T00:00Z']) {
      const start = Date.parse(edge) - 2 * 3_600_000;
      const end = start + 8 * 3_600_000;
      const jobs = await Promise.all(
        ['30 2 * * *', '*/15 * * * *', '0 1-3 * * *', '0 9 * * 1-5'].map((text) =>
          enter(store, jobOf(cron(text)), start),
        ),
      );
      for (let now = start; now <= end; now += 5 * MINUTE) await look(now);
      for (const job of jobs) assert.deepEqual(await firedOf(job), instantsOf(job.schedule, start, end));
      await remove(...jobs);
    }
  });

  it('what was missed while nobody looked collapses into the newest instant, which says how many', async () => {
    const start = Date.parse('2026-05-01T00:00Z');
    const job = await enter(store, jobOf(cron('0 * * * *')), start);
    await look(start + 30 * MINUTE);
    await look(start + DAY + 30 * MINUTE);
    const [fire, ...rest] = await store.fires(job.id, 10);
    assert.ok(fire);
    assert.deepEqual([fire.instant, fire.missed, rest.length], [start + DAY, 23, 0]);
    await look(start + DAY + 31 * MINUTE);
    assert.equal((await store.fires(job.id, 10)).length, 1);
    await remove(job);
  });

  it('a clock that is set back fires nothing again and loses nothing that comes after', async () => {
    const start = Date.parse('2026-06-01T00:00Z');
    const job = await enter(store, jobOf(cron('*/10 * * * *')), start);
    for (let now = start; now <= start + 60 * MINUTE; now += MINUTE) await look(now);
    const before = await firedOf(job);
    for (let now = start + 20 * MINUTE; now <= start + 90 * MINUTE; now += MINUTE) await look(now);
    assert.deepEqual(await firedOf(job), instantsOf(job.schedule, start, start + 90 * MINUTE));
    assert.ok(before.length < (await firedOf(job)).length);
    await remove(job);
  });

  it('a clock that ran ahead for a while does not silence the time it went over', async () => {
    const start = Date.parse('2026-07-01T00:00Z');
    const job = await enter(store, jobOf(cron('0 * * * *')), start);
    await look(start + 30 * MINUTE);
    // The clock jumps a day ahead, and back again.
    await look(start + DAY + MINUTE);
    const wrong = start + DAY;
    for (let now = start + 31 * MINUTE; now <= start + 2 * DAY; now += 10 * MINUTE) await look(now);
    await look(start + 2 * DAY);
    const expected = instantsOf(job.schedule, start, start + 2 * DAY);
    assert.ok(expected.includes(wrong));
    assert.deepEqual(await firedOf(job), expected);
    await remove(job);
  });

  it('whatever jumps the clock makes: no instant twice, and none lost that it came by for the first time', async () => {
    const schedules: Schedule[] = [
      cron('*/7 * * * *'),
      cron('30 2 * * *', 'America/New_York'),
      { type: 'every', every_ms: 11 * MINUTE, anchor: 0 },
    ];
    const moves = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 1, max: 6 }).map((n) => n * MINUTE) },
        { weight: 1, arbitrary: fc.integer({ min: -600, max: -1 }).map((n) => n * MINUTE) },
        { weight: 1, arbitrary: fc.integer({ min: 60, max: 900 }).map((n) => n * MINUTE) },
      ),
      { minLength: 10, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...schedules), moves, async (schedule, steps) => {
        const start = Date.parse('2026-03-08T00:00Z');
        const job = await enter(store, jobOf(schedule), start);
        // The newest instant that each move of the clock passed; none of these may be lost.
        const due = new Set<number>();
        let now = start;
        for (const step of steps) {
          const from = now;
          now += step;
          const passed = instantsOf(schedule, from, now);
          const newest = passed.at(-1);
          if (newest !== undefined) due.add(newest);
          await look(now);
        }
        const fired = await firedOf(job);
        assert.equal(new Set(fired).size, fired.length);
        for (const instant of due)
          assert.ok(fired.includes(instant), `${new Date(instant).toISOString()} was lost`);
        for (const instant of fired) assert.equal(nextInstant(schedule, instant - 1), instant);
        await remove(job);
      }),
      { numRuns: DEEP ? 25 : 8 },
    );
  });

  it('overlap: a run that takes long lets instants be left out, or one wait for it', async () => {
    const start = Date.parse('2026-08-01T00:00Z');
    const skips = await enter(store, jobOf(cron('*/10 * * * *')), start);
    const queues = await enter(store, jobOf(cron('*/10 * * * *'), { overlap: 'queue' }), start);
    const outcomes = async (job: NewCronJob) =>
      (await store.fires(job.id, 10)).toReversed().map((fire) => fire.outcome);
    for (const minutes of [10, 20, 30])
      await Promise.all(servers.map((one) => one.tick(start + minutes * MINUTE)));
    assert.deepEqual(await outcomes(skips), ['fired', 'skipped', 'skipped']);
    assert.deepEqual(await outcomes(queues), ['fired', 'queued', 'skipped']);
    await endRuns(store);
    await Promise.all(servers.map((one) => one.tick(start + 31 * MINUTE)));
    assert.deepEqual(await outcomes(queues), ['fired', 'fired', 'skipped']);
    assert.equal((await store.runs({ job_id: queues.id })).length, 2);
    await endRuns(store);
    await remove(skips, queues);
  });

  it('a one-shot that is due during a run by hand waits for its end, and comes once', async () => {
    const start = Date.parse('2026-09-10T00:00Z');
    const { id } = await enter(store, jobOf({ type: 'at', at: start + 10 * MINUTE }), start);
    const [job] = await store.findJobs(id);
    assert.ok(job);
    await fireJob({ store, canAsk: () => false }, job, start, { instant: start, manual: true });
    const outcomes = async () =>
      (await store.fires(id, 10)).map(({ manual, outcome }) => [manual, outcome]).toSorted();
    await Promise.all(servers.map((one) => one.tick(start + 11 * MINUTE)));
    assert.deepEqual(await outcomes(), [
      [false, 'queued'],
      [true, 'fired'],
    ]);
    for (const minutes of [12, 13]) {
      await endRuns(store);
      await Promise.all(servers.map((one) => one.tick(start + minutes * MINUTE)));
    }
    assert.deepEqual(await outcomes(), [
      [false, 'fired'],
      [true, 'fired'],
    ]);
    assert.equal((await store.runs({ job_id: id })).length, 2);
    await store.removeJob(id);
  });

  it('a one-shot comes once, also when it is late', async () => {
    const start = Date.parse('2026-09-01T00:00Z');
    const job = await enter(store, jobOf({ type: 'at', at: start + MINUTE }), start);
    await look(start + DAY);
    await look(start + 2 * DAY);
    assert.deepEqual(await firedOf(job), [start + MINUTE]);
    const [after] = await store.findJobs(job.id);
    assert.deepEqual([after?.enabled, after?.next_at], [false, null]);
    await remove(job);
  });

  it('an event in the main session comes once, and is skipped when nobody is there', async () => {
    const start = Date.parse('2026-09-10T00:00Z');
    const root = await newRoot(
      store,
      {},
      { state: { type: 'idle' }, session_key: 'agent:main:main', worker: null },
    );
    const job = await enter(
      store,
      jobOf(cron('0 * * * *'), { session: 'main', root_id: root.id, task: 'look at the clock' }),
      start,
    );
    await look(start + 60 * MINUTE);
    await look(start + 120 * MINUTE);
    assert.deepEqual(
      (await store.mail(root.id)).map(({ kind, body }) => [kind, body]),
      [1, 2].map(() => ['event', `[Cron: ${job.name}] look at the clock`]),
    );
    await store.kill(root.id, 'you', start);
    await Promise.all(servers.map((one) => one.tick(start + 180 * MINUTE)));
    assert.equal((await store.fires(job.id, 1))[0]?.outcome, 'skipped');
    await remove(job);
  });

  it('a queued instant that has become an event is skipped when nobody is there, and holds up no other job', async () => {
    const start = Date.parse('2026-09-20T00:00Z');
    const job = await enter(store, jobOf(cron('0 * * * *'), { overlap: 'queue' }), start);
    const other = await enter(store, jobOf(cron('30 * * * *')), start);
    const tick = (minute: number) => servers[0]?.tick(start + minute * MINUTE);
    await tick(60);
    await tick(120);
    const [queues] = await store.findJobs(job.id);
    assert.ok(queues !== undefined);
    assert.equal(
      await store.changeJob({ ...queues, session: 'main' }, queues.version, queues.next_at, start),
      'changed',
    );
    await endRuns(store);
    await tick(150);
    assert.deepEqual(
      (await store.fires(job.id, 2)).map(({ outcome }) => outcome),
      ['skipped', 'fired'],
    );
    assert.ok((await store.fires(other.id, 9)).some(({ instant }) => instant === start + 150 * MINUTE));
    await endRuns(store);
    await remove(job, other);
  });
});
