import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import type { CronJob, NewCronJob } from '../../../src/records/run/cron-job.ts';
import type { FireRequest, FireVerdict } from '../../../src/records/run/fire-request.ts';
import { runIsolated } from '../../../src/records/run/isolated-run.ts';
import type { NewAgent } from '../../../src/records/run/new-agent.ts';
import type { Store } from '../../../src/store/store.ts';
import { CONFIG, fresh, newAgent, newRoot, stepOf } from '../ledger-fixture.ts';

/** A time before the jobs of all other tests, so that only the jobs of one test are due. */
const BEGINNING = 1_000_000;
let latest = BEGINNING;

function newJob(over: Partial<NewCronJob> = {}): NewCronJob {
  const id = randomUUID();
  return {
    id,
    name: `job ${id}`,
    schedule: { type: 'every', every_ms: 60_000, anchor: 0 },
    task: 'naïve 漢字 🎋 %_ $1',
    session: 'isolated',
    root_id: null,
    created_by: 'you',
    config: CONFIG,
    limits: DEFAULT_LIMITS,
    placement: [],
    timeout_ms: null,
    deliver: [],
    once: false,
    cleanup: 'keep',
    overlap: 'skip',
    enabled: true,
    created_at: BEGINNING,
    ...over,
  };
}

/** A new tree with a queued run. */
function runOf(
  job: NewCronJob,
  deliver: readonly string[] = [],
): Extract<FireRequest['begin'], { type: 'run' }> {
  const id = randomUUID();
  const root = newAgent(
    null,
    { id, origin: 'cron', session_key: `cron:${job.id}`, state: { type: 'idle' }, worker: null },
    [],
  );
  const { run, mail } = runIsolated({
    id: randomUUID(),
    source: 'cron',
    agent_id: id,
    root_id: id,
    session_key: `cron:${job.id}`,
    requester: { id: null, key: `cron:${job.id}`, name: job.name },
    config: CONFIG,
    task: job.task,
    text: job.task,
    label: job.name,
    timeout_ms: null,
    cleanup: job.cleanup,
    deliver,
    job_id: job.id,
    mail_id: randomUUID(),
    at: BEGINNING,
  });
  const created: NewAgent = { ...root, run };
  return { type: 'run', root: created, limits: DEFAULT_LIMITS, placement: [], mail };
}

function requestOf(job: CronJob, over: Partial<FireRequest> = {}): FireRequest {
  return {
    job_id: job.id,
    version: job.version,
    next_at: job.next_at,
    instant: job.next_at ?? BEGINNING,
    manual: false,
    waited: false,
    missed: 0,
    then_at: (job.next_at ?? BEGINNING) + 60_000,
    disable: false,
    overlap: job.overlap,
    at: job.next_at ?? BEGINNING,
    begin: runOf(job, job.deliver),
    ...over,
  };
}

/** Part of the store contract: schedules. */
export function cronContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  const entered = async (over: Partial<NewCronJob> = {}, next_at?: number): Promise<CronJob> => {
    latest += 1_000_000;
    const job = newJob(over);
    assert.equal(await stores().store.createJob(job, next_at ?? latest), 'created');
    return found(job.id);
  };
  const found = async (id: string): Promise<CronJob> => {
    const [job] = await stores().other.findJobs(id);
    assert.ok(job, `the job ${id} is there`);
    return job;
  };
  const finish = async (agent_id: string, state: Parameters<typeof stepOf>[1] = {}): Promise<void> => {
    const { store } = stores();
    const agent = await store.agent(agent_id);
    assert.ok(agent);
    const [verdict] = await store.commit([
      stepOf(agent, { state: { type: 'completed', result: 'done' }, ...state }),
    ]);
    assert.ok(verdict?.ok, JSON.stringify(verdict));
  };
  const outcomes = (verdicts: readonly FireVerdict[]): string[] =>
    verdicts.map(({ outcome }) => outcome).toSorted();

  it('stores a job unchanged, and finds it by name, id, prefix and session key', async () => {
    const { store, other } = stores();
    const job = await entered({
      name: `nightly 漢字 "${randomUUID()}"`,
      deliver: ['telegram:-42', 'file:x'],
    });
    const beginning = job.id.slice(0, 8);
    for (const text of [job.name, job.id, beginning, beginning.toUpperCase(), `cron:${job.id}`])
      assert.deepEqual(
        (await other.findJobs(text)).map(({ id }) => id),
        [job.id],
      );
    assert.deepEqual(await other.findJobs('nobody has this name'), []);
    const { version, next_at, planned_at, updated_at, ...kept } = job;
    assert.deepEqual(kept, newJob({ ...kept }));
    assert.deepEqual([version, planned_at, updated_at], [1, BEGINNING, BEGINNING]);
    assert.ok(next_at !== null);
    assert.ok((await store.jobs()).some(({ id }) => id === job.id));
  });

  it('names and ids of jobs are unique, and a tree has no more jobs than its limit', async () => {
    const { store, other } = stores();
    const job = newJob({ name: `twin ${randomUUID()}` });
    const both = await Promise.all([store.createJob(job, null), other.createJob(job, null)]);
    assert.deepEqual(both.toSorted(), ['created', 'there']);
    assert.equal(await store.createJob({ ...newJob(), name: job.name }, null), 'name');
    const root_id = randomUUID();
    const made = await Promise.all(
      [store, other, store, other].map((one) => one.createJob(newJob({ root_id }), null, 2)),
    );
    assert.deepEqual(made.toSorted(), ['created', 'created', 'limit', 'limit']);
    assert.equal((await other.jobs({ root_id })).length, 2);
  });

  it('a change needs the version that it is based on', async () => {
    const { store, other } = stores();
    const job = await entered();
    const changes = await Promise.all(
      [store, other].map((one, n) => one.changeJob({ ...job, task: `task ${n}` }, job.version, 5, 7)),
    );
    assert.deepEqual(changes.toSorted(), ['changed', 'stale']);
    const changed = await found(job.id);
    assert.deepEqual([changed.version, changed.next_at, changed.updated_at], [2, 5, 7]);
    const twin = await entered();
    assert.equal(await store.changeJob({ ...twin, name: job.name }, twin.version, null, 1), 'name');
    assert.equal(await store.removeJob(job.id), true);
    assert.equal(await store.removeJob(job.id), false);
    assert.deepEqual(await other.findJobs(job.id), []);
  });

  it('an instant fires once, however many servers notice it, and creates its run', async () => {
    const { store, other } = stores();
    const job = await entered();
    const requests = Array.from({ length: 8 }, () => requestOf(job));
    const verdicts = await Promise.all(
      requests.map((request, n) => (n % 2 === 0 ? store : other).fire(request)),
    );
    assert.deepEqual(outcomes(verdicts), ['fired', ...Array(7).fill('stale')]);
    const [fire] = await other.fires(job.id, 10);
    assert.ok(fire);
    assert.deepEqual([fire.instant, fire.outcome, fire.manual], [job.next_at, 'fired', false]);
    const runs = (await other.runs({ source: 'cron' })).filter((run) => run.job_id === job.id);
    assert.deepEqual(
      runs.map(({ id, status, session_key }) => [id, status, session_key]),
      [[fire.run_id, 'queued', `cron:${job.id}`]],
    );
    assert.equal((await found(job.id)).next_at, (job.next_at as number) + 60_000);
    const agent_id = runs[0]?.agent_id as string;
    assert.deepEqual(
      (await other.mail(agent_id)).map((mail) => [mail.kind, mail.body]),
      [['task', job.task]],
    );
    assert.ok((await other.unledTrees(1_000)).includes(agent_id));
  });

  it('an instant does not fire again when the clock is set back', async () => {
    const { store } = stores();
    const job = await entered({ overlap: 'queue' });
    assert.equal((await store.fire(requestOf(job))).outcome, 'fired');
    const after = await found(job.id);
    const seen = { version: after.version, next_at: after.next_at };
    assert.equal(await store.replan(job.id, { ...seen, version: 99 }, job.next_at, 1), false);
    assert.equal(await store.replan(job.id, seen, job.next_at, 1), true);
    const again = await found(job.id);
    const verdict = await store.fire(requestOf(again)).catch((error: Error) => ({ outcome: error.message }));
    assert.equal(verdict.outcome, 'stale');
    assert.equal((await found(job.id)).next_at, (job.next_at as number) + 60_000);
    assert.equal((await store.fires(job.id, 10)).length, 1);
  });

  it('a fire based on an outdated job changes nothing', async () => {
    const { store, other } = stores();
    const job = await entered();
    const next_at = job.next_at as number;
    // Another process changed the task.
    assert.equal(
      await other.changeJob({ ...job, task: 'another' }, job.version, next_at, next_at),
      'changed',
    );
    assert.equal((await store.fire(requestOf(job))).outcome, 'stale');
    // Another process replanned the job.
    const changed = await found(job.id);
    assert.equal(await other.replan(job.id, changed, next_at + 500, next_at), true);
    assert.equal((await store.fire(requestOf(changed))).outcome, 'stale');
    assert.deepEqual(await store.fires(job.id, 10), []);
    assert.equal((await found(job.id)).next_at, next_at + 500);
    assert.equal((await store.fire(requestOf(await found(job.id)))).outcome, 'fired');
  });

  it('lists due jobs: by time, after the clock was set back, and none that is disabled', async () => {
    const { store, other } = stores();
    const job = await entered();
    const at = job.next_at as number;
    const isDue = async (when: number) => (await other.dueJobs(when, 1_000)).some(({ id }) => id === job.id);
    assert.equal(await isDue(at - 1), false);
    assert.equal(await isDue(at), true);
    const next = await other.nextDue();
    assert.ok(next !== null && next <= at);
    await store.replan(job.id, { version: 1, next_at: at }, at + 500, at);
    assert.equal(await isDue(at - 999), false);
    assert.equal(await isDue(at - 1_001), true);
    await store.changeJob({ ...job, enabled: false }, 1, at, BEGINNING);
    assert.equal(await isDue(at + 1), false);
    assert.equal((await store.fire(requestOf(await found(job.id)))).outcome, 'stale');
  });

  it('overlap: skip drops an instant, queue keeps one until the run before it has ended', async () => {
    const { store, other } = stores();
    const skips = await entered();
    assert.equal((await store.fire(requestOf(skips))).outcome, 'fired');
    assert.equal((await store.fire(requestOf(await found(skips.id)))).outcome, 'skipped');
    const job = await entered({ overlap: 'queue' });
    const first = requestOf(job);
    assert.equal((await store.fire(first)).outcome, 'fired');
    assert.equal((await store.fire(requestOf(await found(job.id)))).outcome, 'queued');
    assert.equal((await store.fire(requestOf(await found(job.id)))).outcome, 'skipped');
    const waiting = async () =>
      (await other.dueJobs((job.next_at as number) + 170_000, 10_000)).find(({ id }) => id === job.id)
        ?.waiting;
    assert.equal(await waiting(), undefined);
    await finish(first.begin.type === 'run' ? first.begin.root.agent.id : '');
    const fire = await waiting();
    assert.ok(fire);
    const now = await found(job.id);
    const { instant, manual } = fire;
    const begun = await Promise.all(
      [store, other].map((one) => one.fire(requestOf(now, { instant, manual, waited: true }))),
    );
    assert.deepEqual(outcomes(begun), ['fired', 'stale']);
    assert.equal(await waiting(), undefined);
    assert.deepEqual((await other.fires(job.id, 10)).map((one) => one.outcome).toSorted(), [
      'fired',
      'fired',
      'skipped',
    ]);
    assert.equal((await found(job.id)).next_at, now.next_at);
  });

  it('a manual fire is an extra instant, leaves the schedule unchanged, and obeys the overlap rule', async () => {
    const { store } = stores();
    const job = await entered();
    const manual = { manual: true, instant: 77, version: 99, next_at: null };
    assert.equal((await store.fire(requestOf(job, manual))).outcome, 'fired');
    assert.equal((await store.fire(requestOf(job, { ...manual, instant: 78 }))).outcome, 'skipped');
    assert.equal((await found(job.id)).next_at, job.next_at);
    assert.equal((await store.fire(requestOf(job))).outcome, 'skipped');
  });

  it('a job that fires once disables itself', async () => {
    const { store } = stores();
    const job = await entered({ once: true });
    assert.equal((await store.fire(requestOf(job, { disable: true, then_at: null }))).outcome, 'fired');
    const after = await found(job.id);
    assert.deepEqual([after.enabled, after.next_at], [false, null]);
  });

  it('an event goes to a living session, which becomes served; for a dead one it is skipped', async () => {
    const { store, other } = stores();
    const root = await newRoot(store, {}, { state: { type: 'idle' }, worker: null });
    const mail = {
      id: randomUUID(),
      root_id: root.id,
      to_id: root.id,
      from_id: null,
      from_name: 'cron',
      kind: 'event',
      body: 'it is time',
      sent_at: 1,
    } as const;
    const job = await entered({ session: 'main', root_id: root.id });
    assert.equal((await store.fire(requestOf(job, { begin: { type: 'event', mail } }))).outcome, 'fired');
    assert.deepEqual(
      (await other.mail(root.id)).map(({ kind, body }) => [kind, body]),
      [['event', 'it is time']],
    );
    assert.ok((await other.unledTrees(1_000)).includes(root.id));
    await store.kill(root.id, 'you', 1);
    const again = requestOf(await found(job.id), {
      begin: { type: 'event', mail: { ...mail, id: randomUUID() } },
    });
    assert.equal((await store.fire(again)).outcome, 'skipped');
  });

  it('unled are served trees with something to do and no living worker', async () => {
    const { store, other } = stores();
    const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1, role: 'serve' } as const;
    await store.heartbeat(worker);
    assert.ok((await other.workers()).some(({ id, role }) => id === worker.id && role === 'serve'));
    const rests = newAgent(null, { state: { type: 'idle' }, worker: null }, []);
    await store.createRoot(rests, DEFAULT_LIMITS, { served: true });
    const works = newAgent(null, { worker: worker.id });
    await store.createRoot(works, DEFAULT_LIMITS, { served: true });
    const own = newAgent(null, { worker: null });
    await store.createRoot(own, DEFAULT_LIMITS);
    const unled = async (id: string) => (await other.unledTrees(1_000)).includes(id);
    assert.deepEqual(
      [await unled(rests.agent.id), await unled(works.agent.id), await unled(own.agent.id)],
      [false, false, false],
    );
    await store.serveTree(own.agent.id);
    assert.equal(await unled(own.agent.id), true);
    await store.releaseTree(works.agent.id, worker.id);
    assert.equal(await unled(works.agent.id), true);
    assert.ok((await store.claim(works.agent.id, worker)).length === 1);
    assert.equal(await unled(works.agent.id), false);
    await store.release(worker.id);
    assert.equal(await unled(works.agent.id), true);
    assert.equal((await fresh(store, (await store.agent(rests.agent.id)) as never)).worker, null);
  });

  it('sending is idempotent by the id of the letter', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const mail = {
      id: `telegram-1-${randomUUID()}`,
      root_id: root.id,
      to_id: root.id,
      from_id: null,
      from_name: 'Ada',
      kind: 'letter',
      body: 'once',
      sent_at: 1,
    } as const;
    const sent = await Promise.all([store.send(mail), other.send(mail), store.send(mail)]);
    assert.deepEqual(
      sent.map((one) => one.ok && one.mail.number),
      [1, 1, 1],
    );
    assert.equal((await other.mail(root.id)).length, 1);
  });
}
