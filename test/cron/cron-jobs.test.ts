// Proves the operations on scheduled jobs, whoever calls them: given fields are changed, others stay, and an invalid request is refused with nothing changed.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { jobRuns } from '../../src/cron/job-runs.ts';
import { CronJobs, type JobInput, type JobOrigin } from '../../src/cron/manage-jobs.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { CronJob } from '../../src/records/run/cron-job.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { CONFIG, newRoot } from '../store/ledger-fixture.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { endRuns, enter, jobOf, schedulers } from './cron-stage.ts';

const GROUND: JobOrigin = {
  ...{ root_id: null, created_by: 'you', config: CONFIG, placement: [] },
  limits: { ...DEFAULT_LIMITS, run_ms: 600_000 },
};
const HOUR = 3_600_000;

describe('scheduled jobs', () => {
  const folder = temporaryFolder();
  let store: Store;
  let jobs: CronJobs;
  let made = 0;

  before(async () => {
    store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
    jobs = jobsOf();
  });
  after(async () => {
    await store.close();
  });
  beforeEach(async () => {
    await endRuns(store);
    for (const { id } of await store.jobs()) await store.removeJob(id);
  });

  function jobsOf(over: Partial<ConstructorParameters<typeof CronJobs>[0]> = {}): CronJobs {
    const checkTarget = (target: string) => (target.startsWith('file:') ? null : 'there is no such channel');
    return new CronJobs({
      store,
      canAsk: (target) => target.startsWith('chat:'),
      default_tz: 'UTC',
      checkTarget,
      ...over,
    });
  }

  const anywhere = () => jobsOf({ checkTarget: () => null });

  it('of a time that no clock shows is told when it is due', async () => {
    const notes: string[] = [];
    const noted = jobsOf({ note: (text) => notes.push(text) });
    await noted.add('gap', { task: 'look', at: '2099-03-29 02:30', tz: 'Europe/Berlin' }, GROUND);
    assert.match(notes.join(), /^2099-03-29 02:30 Europe\/Berlin does not exist/);
  });

  function add(wish: JobInput = {}, ground: Partial<JobOrigin> = {}): Promise<CronJob> {
    made += 1;
    const timed = [wish.cron, wish.every, wish.at].some((one) => one !== undefined);
    const whole = { task: 'look', ...(timed ? {} : { every: '1h' }), ...wish };
    return jobs.add(`job ${made}`, whole, { ...GROUND, ...ground });
  }

  const refused = (doing: Promise<unknown>, code: string, message: RegExp) =>
    assert.rejects(doing, { code, message });

  describe('a new job', () => {
    it('without more words: isolated, kept, left out while its run is at work, due after one interval', async () => {
      const job = await add();
      const { session, timeout_ms, deliver, once, cleanup, overlap, enabled, task } = job;
      assert.deepEqual(
        { session, timeout_ms, deliver, once, cleanup, overlap, enabled, task },
        {
          ...{ session: 'isolated', timeout_ms: null, deliver: [], once: false, cleanup: 'keep' },
          ...{ overlap: 'skip', enabled: true, task: 'look' },
        },
      );
      assert.equal(job.next_at, job.created_at + HOUR);
      assert.deepEqual(job.limits, GROUND.limits);
    });

    it('comes once when it is for a time, is to come once, or is to be disabled behind its run', async () => {
      const wishes: JobInput[] = [
        { at: '+5m' },
        { once: true },
        { cleanup: 'disable' },
        { cleanup: 'delete' },
      ];
      const jobs = await Promise.all(wishes.map((wish) => add(wish)));
      assert.deepEqual(
        jobs.map(({ once }) => once),
        [true, true, true, false],
      );
      assert.deepEqual(
        jobs.map(({ cleanup }) => cleanup),
        ['keep', 'keep', 'keep', 'delete'],
      );
    });

    it('delivers to each target once, and only where it may', async () => {
      assert.deepEqual((await add({ deliver: ['file:b', 'file:a', 'file:b'] })).deliver, [
        'file:b',
        'file:a',
      ]);
      const nowhere = add({ deliver: ['file:a', 'telegram:43'] });
      await refused(nowhere, 'E_INVALID_ARGUMENT', /^deliver telegram:43: there is no such channel$/);
      assert.equal((await store.jobs()).length, 1);
    });

    it('has a name of its own, a task, and a time that a run may take', async () => {
      const job = await add({ timeout_s: 86_400, task: 'x'.repeat(100_000) });
      assert.deepEqual([job.timeout_ms, job.task.length], [86_400_000, 100_000]);
      await refused(jobs.add(job.name, { every: '1h', task: 'x' }, GROUND), 'E_JOB_EXISTS', /called "job/);
      const wrong = 'E_INVALID_ARGUMENT';
      for (const timeout_s of [86_401, -1, 1.5])
        await refused(add({ timeout_s }), wrong, /whole number of seconds from 0 .* to 86400/);
      await refused(add({ task: 'x'.repeat(100_001) }), wrong, /100001 characters; at most 100000/);
      for (const task of ['', ' \n', undefined]) await refused(add({ task }), wrong, /needs a task/);
      await refused(jobs.add(' ', { every: '1h', task: 'x' }, GROUND), wrong, /name/);
    });

    it('in the main session has nothing that only an isolated run has', async () => {
      const main = { session: 'main' } as const;
      assert.equal((await add(main)).session, 'main');
      for (const [wish, what] of [
        [{ deliver: ['file:a'] }, 'deliver'],
        [{ cleanup: 'delete' }, 'cleanup'],
        [{ timeout_s: 5 }, 'timeout'],
      ] as const)
        await refused(add({ ...main, ...wish }), 'E_USAGE', new RegExp(`^${what} needs an isolated`));
    });

    it('a person may let a run take longer than its limits say, never shorter by that', async () => {
      const runs = await Promise.all([0, 60, 600, 601].map((timeout_s) => add({ timeout_s })));
      assert.deepEqual(
        runs.map(({ limits }) => limits.run_ms),
        [600_000, 600_000, 600_000, 601_000],
      );
    });
  });

  describe('a change', () => {
    const RICH: JobInput = {
      ...{ cron: '0 9 * * *', tz: 'Asia/Tokyo', task: 'first', deliver: ['file:a'], timeout_s: 60 },
      ...{ cleanup: 'delete', overlap: 'queue', once: true },
    };
    /** Returns the fields that a change altered, without the version and the times. */
    async function changed(job: CronJob, wish: Parameters<CronJobs['change']>[1]): Promise<object> {
      const after: Readonly<Record<string, unknown>> = { ...(await jobs.change(job, wish)) };
      const before: Readonly<Record<string, unknown>> = { ...job };
      const kept = ['version', 'updated_at', 'planned_at', 'next_at'];
      const names = Object.keys(after).filter((name) => !kept.includes(name));
      return Object.fromEntries(
        names.flatMap((name) =>
          JSON.stringify(after[name]) === JSON.stringify(before[name]) ? [] : [[name, after[name]]],
        ),
      );
    }

    it('is of what is named, and of nothing else', async () => {
      const schedule = { type: 'cron', expression: '0 9 * * *', tz: 'Europe/Berlin' };
      const cases: [Parameters<CronJobs['change']>[1], object][] = [
        [{}, {}],
        [{ name: 'another' }, { name: 'another' }],
        [{ task: 'second' }, { task: 'second' }],
        [{ deliver: ['file:b', 'file:b'] }, { deliver: ['file:b'] }],
        [{ deliver: [] }, { deliver: [] }],
        [{ timeout_s: 0 }, { timeout_ms: null }],
        [{ timeout_s: 5 }, { timeout_ms: 5_000 }],
        [{ cleanup: 'keep' }, { cleanup: 'keep' }],
        [{ cleanup: 'disable' }, { cleanup: 'keep' }],
        [{ overlap: 'skip' }, { overlap: 'skip' }],
        [{ once: false }, { once: false }],
        [{ tz: 'Europe/Berlin' }, { schedule }],
        [
          { cron: '0 9 * * *', tz: 'Europe/Berlin' },
          { schedule, once: false },
        ],
        [{ cron: '0 9 * * *', tz: 'Europe/Berlin', once: true }, { schedule }],
      ];
      for (const [wish, expected] of cases) {
        const job = await add(RICH);
        assert.deepEqual(await changed(job, wish), expected, JSON.stringify(wish));
        await store.removeJob(job.id);
      }
      assert.deepEqual(await changed(await add(), { session: 'main' }), { session: 'main' });
      assert.deepEqual(await changed(await add(), { cleanup: 'disable' }), { once: true });
    });

    it('of its time: it is due by the new one, once for a time, and it goes on if it was disabled', async () => {
      const job = await jobs.enable(await add(), false);
      const hourly = await jobs.change(job, { every: '2h' });
      assert.ok(hourly.schedule.type === 'every');
      assert.deepEqual([hourly.enabled, hourly.once], [true, false]);
      assert.equal(hourly.next_at, hourly.schedule.anchor + 2 * HOUR);
      const dated = await jobs.change(hourly, { at: '2099-01-01 09:00' });
      assert.deepEqual([dated.once, dated.next_at], [true, Date.parse('2099-01-01T09:00Z')]);
      const quiet = await jobs.enable(dated, false);
      assert.deepEqual([quiet.next_at, (await jobs.change(quiet, { task: 'x' })).enabled], [null, false]);
    });

    it('that is invalid changes nothing', async () => {
      const [job, other] = [await add(), await add()];
      await refused(jobs.change(job, { tz: 'Asia/Tokyo' }), 'E_USAGE', /time zone needs a cron/);
      await refused(jobs.change(job, { deliver: ['nowhere:1'] }), 'E_INVALID_ARGUMENT', /^deliver nowhere:1/);
      await refused(jobs.change(job, { task: '' }), 'E_INVALID_ARGUMENT', /needs a task/);
      await refused(jobs.change(job, { session: 'main', timeout_s: 1 }), 'E_USAGE', /^timeout needs/);
      await refused(jobs.change(job, { name: other.name }), 'E_JOB_EXISTS', /called "job/);
      assert.deepEqual(await jobs.find(job.id), job);
    });

    it('of a job that was changed or removed meanwhile is refused, and may be retried', async () => {
      const job = await add();
      await jobs.change(job, { task: 'second' });
      const late = { code: 'E_REFUSED', message: /changed or removed at the same moment/, retryable: true };
      await assert.rejects(jobs.change(job, { task: 'third' }), late);
      await assert.rejects(jobs.enable(job, false), late);
      assert.equal((await jobs.find(job.id)).task, 'second');
    });
  });

  it('a time that was missed stays due when anything but the times is changed', async () => {
    const job = jobOf({ type: 'at', at: 5 });
    await enter(store, job, 1);
    const renamed = await jobs.change(await jobs.find(job.id), { task: 'another' });
    assert.deepEqual([renamed.enabled, renamed.next_at, renamed.task], [true, 5, 'another']);
  });

  it('disabled it drops an instant that waits for a run, also if its only time has passed', async () => {
    const job = jobOf({ type: 'at', at: HOUR });
    await enter(store, job, 1);
    await jobs.fire(await jobs.find(job.id));
    const [server] = schedulers([store]);
    await server?.tick(2 * HOUR);
    assert.ok((await store.fires(job.id, 2)).some(({ outcome }) => outcome === 'queued'));
    assert.equal((await jobs.find(job.id)).enabled, false);
    await jobs.enable(await jobs.find(job.id), false);
    await endRuns(store);
    await server?.tick(3 * HOUR);
    assert.equal((await store.runs({ job_id: job.id })).length, 1);
  });

  it('disabled it is never due; enabled it is again, unless its time has passed', async () => {
    const job = await add();
    assert.equal(await jobs.enable(job, true), job);
    const quiet = await jobs.enable(job, false);
    assert.deepEqual([quiet.enabled, quiet.next_at], [false, null]);
    const again = await jobs.enable(quiet, true);
    assert.deepEqual([again.enabled, again.next_at], [true, job.next_at]);
    const { next_at: _, planned_at: __, updated_at: ___, version, ...past } = again;
    await store.changeJob({ ...past, schedule: { type: 'at', at: 5 }, enabled: false }, version, null, 6);
    await refused(jobs.enable(await jobs.find(job.id), true), 'E_INVALID_ARGUMENT', /has passed/);
  });

  it('is found by its name or the beginning of its id; among several nobody guesses', async () => {
    const [first, second] = [await add(), await add({}, { root_id: (await newRoot(store)).id })];
    assert.equal((await jobs.find(first.name)).id, first.id);
    assert.equal((await jobs.find(first.id.slice(0, 13))).id, first.id);
    assert.equal((await jobs.find(second.name, second.root_id ?? '')).id, second.id);
    await refused(jobs.find(first.name, 'another tree'), 'E_JOB_NOT_FOUND', /no scheduled job "job/);
    await refused(jobs.find('nothing'), 'E_JOB_NOT_FOUND', /no scheduled job "nothing"/);
    for (const id of ['aaaaaaaa-1', 'aaaaaaaa-2'])
      await enter(store, jobOf(first.schedule, { id, name: `named ${id}` }), 1);
    await refused(jobs.find('aaaaaaaa'), 'E_JOB_AMBIGUOUS', /"aaaaaaaa" matches 2 scheduled jobs/);
  });

  describe('by hand', () => {
    it('a run begins at once; while it is at work the next is left out, or one waits behind it', async () => {
      const skips = await add();
      const first = await jobs.fire(skips);
      const now = await store.now();
      const still = new Proxy(store, {
        get(target, key) {
          const value: unknown = key === 'now' ? async () => now : Reflect.get(target, key);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const root = await newRoot(store);
      const event = await jobs.add(
        'at once',
        { every: '1h', task: 'look', session: 'main' },
        { ...GROUND, root_id: root.id },
      );
      for (let time = 0; time < 3; time += 1)
        assert.equal((await jobsOf({ store: still }).fire(event)).outcome, 'fired', 'within one millisecond');
      assert.deepEqual(
        (await store.fires(event.id, 9)).map(({ instant }) => instant - now),
        [2, 1, 0],
      );
      assert.equal(first.outcome, 'fired');
      const [row] = await jobRuns(store, skips.id, 5);
      assert.deepEqual([row?.fire.manual, row?.run?.root_id], [true, first.root_id]);
      await refused(jobs.fire(skips), 'E_JOB_AT_WORK', /a run of it is in progress \(overlap skip\)/);
      const queues = await add({ overlap: 'queue' });
      assert.equal((await jobs.fire(queues)).outcome, 'fired');
      assert.deepEqual(await jobs.fire(queues), { outcome: 'queued', root_id: null });
      await refused(jobs.fire(queues), 'E_JOB_AT_WORK', /and another one is queued \(overlap queue\)/);
    });

    it('many at the same moment: each is a run of its own', async () => {
      const job = await add({ overlap: 'queue' });
      for (let n = 0; n < 4; n += 1) {
        assert.equal((await jobs.fire(job)).outcome, 'fired');
        await endRuns(store);
      }
      const rows = await jobRuns(store, job.id, 10);
      assert.equal(new Set(rows.map(({ run }) => run?.id)).size, 4);
      assert.deepEqual(
        rows.map(({ fire }) => fire.run_id),
        rows.map(({ run }) => run?.id),
      );
      assert.equal((await jobRuns(store, job.id, 3)).length, 3);
    });

    it('an event goes to the newest main session that lives, or to nobody, who is told so', async () => {
      const job = await add({ session: 'main' });
      await refused(jobs.fire(job), 'E_AGENT_NOT_FOUND', /no main session/);
      const session = { state: { type: 'idle' }, session_key: 'agent:main:main' } as const;
      const root = await newRoot(store, {}, session);
      assert.deepEqual(await jobs.fire(job), { outcome: 'fired', root_id: root.id });
      const [mail] = await store.mail(root.id);
      assert.deepEqual([mail?.kind, mail?.from_name], ['event', 'cron']);
      await store.kill(root.id, 'you', 1);
      await refused(jobs.fire(job), 'E_AGENT_NOT_FOUND', /no main session/);
    });

    it('its questions go to the first target in which people can be asked', async () => {
      const places: (string | undefined)[] = [];
      for (const deliver of [['file:a', 'chat:7', 'chat:8'], ['file:a'], []]) {
        const { root_id } = await anywhere().fire(
          await anywhere().add(`asks ${deliver}`, { every: '1h', task: 'look', deliver }, GROUND),
        );
        places.push((await store.agent(root_id ?? ''))?.config.channel);
      }
      assert.deepEqual(places, ['chat:7', undefined, undefined]);
    });

    it('one that was removed is not there', async () => {
      const job = await add();
      assert.deepEqual([await jobs.remove(job), await jobs.remove(job)], [true, false]);
      await refused(jobs.fire(job), 'E_JOB_NOT_FOUND', /was removed/);
    });
  });

  describe('of models', () => {
    const bounded = () => jobsOf({ bounds: { least_ms: 60_000, most: 2 } });

    it('run no more often than they may, whatever the words', async () => {
      const model = bounded();
      const wish = { task: 'look' };
      const often = /more often than every 60 s/;
      await refused(model.add('a', { ...wish, every: '59s' }, GROUND), 'E_REFUSED', often);
      await refused(model.add('a', { ...wish, cron: '*/30 * * * * *' }, GROUND), 'E_REFUSED', often);
      const job = await model.add('a', { ...wish, every: '60s' }, GROUND);
      await model.add('b', { ...wish, cron: '* * * * *' }, GROUND);
      await model.add('c', { ...wish, at: '+5s' }, GROUND);
      await refused(model.change(job, { every: '1s' }), 'E_REFUSED', often);
    });

    it('no more of one tree are enabled than may be; those of others do not count', async () => {
      const model = bounded();
      const [tree, other] = [(await newRoot(store)).id, (await newRoot(store)).id];
      const make = (name: string, root_id: string | null) =>
        model.add(name, { every: '1h', task: 'look' }, { ...GROUND, root_id });
      const [first] = [await make('a', tree), await make('b', tree)];
      const full = /already has 2 enabled scheduled jobs/;
      await refused(make('c', tree), 'E_REFUSED', full);
      await make('d', other);
      const quiet = await model.enable(first, false);
      await make('c', tree);
      await refused(model.enable(quiet, true), 'E_REFUSED', full);
      await refused(model.change(quiet, { every: '2h' }), 'E_REFUSED', full);
      assert.equal((await model.change(quiet, { task: 'other' })).task, 'other');
    });

    it('a run takes no longer than its tree allows', async () => {
      const model = bounded();
      const wish = { every: '1h', task: 'look' };
      const job = await model.add('a', { ...wish, timeout_s: 600 }, GROUND);
      assert.equal(job.limits.run_ms, 600_000);
      await refused(model.add('b', { ...wish, timeout_s: 601 }, GROUND), 'E_REFUSED', /600 s at most/);
      await refused(model.change(job, { timeout_s: 601 }), 'E_REFUSED', /600 s at most/);
    });
  });
});
