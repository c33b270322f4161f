// Proves that a running scheduler polls by itself, until it is stopped: due jobs are fired soon, also jobs that others created and jobs that failed to fire
// before.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, it } from 'node:test';
import { Scheduler, type SchedulerOptions } from '../../src/cron/scheduler.ts';
import type { Clock } from '../../src/processes/waiting.ts';
import type { Schedule } from '../../src/records/run/cron-job.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { endRuns, enter, jobOf } from './cron-stage.ts';

const folder = temporaryFolder();
let store: Store;
let heard: string[];
let running: Scheduler | null = null;

before(async () => {
  store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
});
after(async () => {
  await store.close();
});
beforeEach(() => {
  heard = [];
});
afterEach(async () => {
  await running?.stop();
  await endRuns(store);
  for (const { id } of await store.jobs()) await store.removeJob(id);
});

function start(over: Partial<SchedulerOptions> = {}): Scheduler {
  running = new Scheduler({
    canAsk: () => false,
    store,
    onFired: () => heard.push('fired'),
    onOutcome: ({ name }, outcome, instant) => heard.push(`${name} ${outcome} ${instant}`),
    onTrouble: (error) => heard.push(`${error}`),
    ...over,
  });
  running.wake();
  return running;
}

const once = (at: number): Schedule => ({ type: 'at', at });
const told = (count: number) => until(() => heard.length >= count, `${count} things are told`);
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A clock whose timers fire when the test says so; `waits` records them. */
class HeldClock implements Clock {
  readonly waits: { readonly ms: number; readonly ring: () => void }[] = [];
  readonly now = Date.now;

  after(ms: number, ring: () => void): () => void {
    this.waits.push({ ms, ring });
    return () => undefined;
  }

  async waiting(times: number): Promise<{ readonly ms: number; readonly ring: () => void } | undefined> {
    await until(() => this.waits.length === times, `it waits, ${times} times`);
    return this.waits.at(-1);
  }
}

it('fires what is due, and what is due a little later, each at its time', async () => {
  const began_at = await store.now();
  const due_at = began_at + 300;
  let now = began_at;
  await enter(store, jobOf(once(now - 5), { name: 'late' }), now - 10);
  await enter(store, jobOf(once(due_at), { name: 'next' }), now);
  const clock = new HeldClock();
  start({ clock, now: async () => now });
  const wait = await clock.waiting(1);
  assert.deepEqual(heard, [`late fired ${began_at - 5}`, 'fired']);
  assert.equal(wait?.ms, 300);
  now = due_at;
  wait.ring();
  await told(4);
  assert.deepEqual(heard.slice(2), [`next fired ${due_at}`, 'fired']);
  const runs = (await store.runs({ source: 'cron' })).map(({ created_at }) => created_at);
  assert.deepEqual(runs.toReversed(), [began_at, due_at]);
});

it('polls each second for jobs that others created, or at once when it is woken', async () => {
  const clock = new HeldClock();
  const scheduler = start({ clock });
  const wait = await clock.waiting(1);
  assert.equal(wait?.ms, 1_000);
  const now = await store.now();
  await enter(store, jobOf(once(now), { name: 'made' }), now - 1);
  wait.ring();
  await clock.waiting(2);
  assert.deepEqual(heard, [`made fired ${now}`, 'fired']);
  await enter(store, jobOf(once(now), { name: 'told' }), now - 1);
  scheduler.wake();
  await clock.waiting(3);
  assert.deepEqual(heard.slice(2), [`told fired ${now}`, 'fired']);
});

it('woken while it looks, it looks once more behind that', async () => {
  const held: (() => void)[] = [];
  const scheduler = start({
    now: async () => {
      if (held.length < 2) await new Promise<void>((resolve) => held.push(resolve));
      return store.now();
    },
  });
  scheduler.wake();
  scheduler.wake();
  assert.equal(held.length, 1);
  held[0]?.();
  await until(() => held.length === 2, 'it looks again');
  held[1]?.();
});

it('a job that is left out is told of, and nobody is called to lead a run', async () => {
  const now = await store.now();
  await enter(store, jobOf(once(now - 5), { name: 'event', session: 'main' }), now - 10);
  start();
  await told(1);
  await soon(100);
  assert.deepEqual(heard, [`event skipped ${now - 5}`]);
});

it('logs trouble, and goes on', async () => {
  const now = await store.now();
  await enter(store, jobOf(once(now - 5), { name: 'job' }), now - 10);
  let tries = 0;
  start({
    now: async () => {
      tries += 1;
      if (tries === 1) throw new Error('the ledger is away');
      return store.now();
    },
  });
  await told(3);
  assert.deepEqual(heard, ['Error: the ledger is away', `job fired ${now - 5}`, 'fired']);
});

it('when stopped, it ends the poll under way, and polls no more', async () => {
  const gate = Promise.withResolvers<void>();
  const now = await store.now();
  await enter(store, jobOf(once(now - 5), { name: 'job' }), now - 10);
  const scheduler = start({ now: () => gate.promise.then(() => store.now()) });
  const stopped = scheduler.stop().then(() => heard.push('stopped'));
  await soon(30);
  assert.equal(heard.length, 0);
  gate.resolve();
  await stopped;
  assert.deepEqual(heard, [`job fired ${now - 5}`, 'fired', 'stopped']);
  await enter(store, jobOf(once(now - 4), { name: 'another' }), now - 10);
  scheduler.wake();
  await soon(1_100);
  assert.equal(heard.length, 3);
  const idle = start();
  await soon(50);
  await idle.stop();
  await soon(1_100);
  assert.equal(heard.filter((one) => one.includes('another fired')).length, 1);
});

it('a job that cannot be fired holds up no other, and is tried again after a pause', async () => {
  const now = await store.now();
  await enter(store, jobOf(once(now - 9), { name: 'broken' }), now - 10);
  await enter(store, jobOf(once(now - 5), { name: 'whole' }), now - 10);
  const [broken] = await store.findJobs('broken');
  const faulty: Store = {
    ...store,
    fire: async (request) => {
      if (request.job_id === broken?.id) throw new RangeError('no such zone');
      return store.fire(request);
    },
  };
  const clock = new HeldClock();
  start({ store: faulty, clock, now: async () => now });
  const wait = await clock.waiting(1);
  assert.deepEqual(heard, ['RangeError: no such zone', `whole fired ${now - 5}`, 'fired']);
  assert.equal(wait?.ms, 1_000);
});

it('a job that fires is told, though one after it in the same look does not', async () => {
  const at = await store.now();
  const scheduler = new Scheduler({
    canAsk: () => false,
    store,
    onFired: () => heard.push('fired'),
    onTrouble: (error) => heard.push(`${error}`),
  });
  const every: Schedule = { type: 'every', every_ms: 60_000, anchor: at };
  const busy = await enter(store, jobOf(every, { name: 'b' }), at);
  await scheduler.tick(at + 60_000);
  assert.deepEqual(heard.splice(0), ['fired']);
  await enter(store, jobOf({ ...every, anchor: at - 1 }, { name: 'a' }), at);
  await scheduler.tick(at + 120_000);
  assert.deepEqual(heard, ['fired']);
  assert.deepEqual(
    (await store.fires(busy.id, 9)).map(({ outcome }) => outcome),
    ['skipped', 'fired'],
  );
});
