// Proves what happens to a run on a timer: a fresh session of its own, one row in the history, a delivery at its end, a place in the one queue.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { CronJobs } from '../../src/cron/manage-jobs.ts';
import type { ToolsetTerms } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { NewCronJob } from '../../src/records/run/cron-job.ts';
import { runText } from '../../src/records/run/run-end.ts';
import { TreeKeeper } from '../../src/trees/leaders/tree-keeper.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { HandClock } from '../runtime/hand-clock.ts';
import { hangTool } from '../runtime/hang-tool.ts';
import { type Play, type Scene, type Stage, type StageOptions, setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';
import { jobOf } from './cron-stage.ts';

const CONFIG_OF_JOBS = {
  model: 'play/actor',
  thinking: 'off' as const,
  system: 'Be brief.',
  toolsets: ['process'],
  tools: [],
  cwd: process.cwd(),
  permissions: { cli: { allow: ['*'], ask: [], deny: [] }, config: { allow: [], ask: [], deny: [] } },
};

onBothDatabases('runs on a timer', (database) => {
  const open: { stage: Stage; keeper: TreeKeeper }[] = [];
  let stage: Stage;
  let keeper: TreeKeeper;
  let seen: Scene[] = [];

  afterEach(closeAll);

  async function closeAll(): Promise<void> {
    for (const one of open.splice(0)) {
      await one.keeper.stop();
      await one.stage.close();
    }
  }

  async function stageOf(play: Play, options: StageOptions = {}): Promise<void> {
    seen = [];
    stage = await setStage(
      (scene) => {
        seen.push(scene);
        return play(scene);
      },
      { database: await database(), ...options },
    );
    keep();
  }

  function keep(): void {
    keeper = new TreeKeeper({
      store: stage.store,
      runtime: stage.runtime,
      onEnded: () => undefined,
      onTrouble: (error) => {
        throw error;
      },
      idle_ms: 50,
    });
    keeper.wake();
    open.push({ stage, keeper });
  }

  async function entered(over: Partial<NewCronJob> = {}): Promise<NewCronJob> {
    const job = jobOf({ type: 'every', every_ms: 3_600_000, anchor: 0 }, { config: CONFIG_OF_JOBS, ...over });
    await stage.store.createJob(job, null);
    return job;
  }

  async function fire(job: NewCronJob): Promise<void> {
    const jobs = new CronJobs({
      store: stage.store,
      canAsk: () => false,
      default_tz: 'UTC',
      checkTarget: () => null,
    });
    await jobs.fire(await jobs.find(job.id));
    keeper.wake();
  }

  const runsOf = async (job: NewCronJob) => (await stage.store.runs({ job_id: job.id })).toReversed();
  const ended = (job: NewCronJob, count = 1) =>
    until(
      async () => (await runsOf(job)).filter((run) => run.finished_at !== null).length === count,
      `${count} runs have ended`,
    );

  it('a fresh session each time: no history, its own key, the words of its job, and a row for each', async () => {
    await stageOf((scene) => `answer ${scene.step} to ${scene.user}`);
    const job = await entered({ name: 'nightly', task: 'count the stars' });
    await fire(job);
    await ended(job, 1);
    await fire(job);
    await ended(job, 2);
    const runs = await runsOf(job);
    for (const run of runs) {
      assert.deepEqual(
        [run.status, run.result, run.source, run.session_key, run.label, run.task],
        ['completed', 'answer 0 to count the stars', 'cron', `cron:${job.id}`, 'nightly', 'count the stars'],
      );
      assert.notEqual(run.duration_ms, null);
    }
    assert.equal(new Set(runs.map((run) => run.agent_id)).size, 2);
    assert.equal(seen.length, 2);
    for (const { request } of seen) {
      assert.equal(request.messages.length, 1);
      assert.match(request.system, /^Be brief\.\n\nYou were started by a timer: the scheduled job "nightly"/);
    }
  });

  it('a run that forked rests until its forks have reported, however their turns end, and ends with the answer to that', async () => {
    await stageOf((scene) => {
      if (scene.name === 'tree') {
        if (scene.step > 1) return `all told: ${scene.user}`;
        const names = ['says', 'fails', 'killed', 'stopped'];
        return scene.step === 0
          ? names.map((name) => ['fork', { name, prompt: 'go' }] as const)
          : 'I will report.';
      }
      if (scene.name === 'says') return 'seven';
      return scene.name === 'fails' ? '' : new Promise<string>(() => undefined);
    });
    const job = await entered({ name: 'tree' });
    await fire(job);
    const first = async () => (await runsOf(job))[0];
    const agents = async () => stage.store.agents({ root_id: (await first())?.root_id ?? '' });
    const named = async (name: string) => (await agents()).find((one) => one.name === name)?.id ?? '';
    const tree = async () => (await agents()).find((one) => one.name === 'tree');
    const rested = async () => (await tree())?.state.type === 'idle' && seen.some((one) => one.step === 2);
    await until(rested, 'it was told of an end, and rests');
    assert.equal((await first())?.status, 'running');
    await until(async () => seen.filter((one) => one.step === 0).length === 5, 'all have begun');
    await stage.runtime.kill(await named('killed'));
    await stage.runtime.interrupt(await named('stopped'), 'enough');
    await ended(job);
    const run = await first();
    assert.equal(run?.status, 'completed');
    const history = JSON.stringify(await stage.store.history(run?.agent_id ?? ''));
    for (const told of [/seven/, /answered with nothing/, /Killed by a person/, /interrupted/])
      assert.match(history, told);
  });

  it('a fork that has written and still works ends with its run, and nothing of the tree is kept in memory', async () => {
    await stageOf((scene) => {
      if (scene.name !== 'tree')
        return scene.step === 0
          ? [['send', { to: scene.parent_id, message: 'seven' }]]
          : new Promise<string>(() => undefined);
      if (scene.step === 0) return [['fork', { name: 'child', prompt: 'go' }]];
      return scene.step === 1 ? [['wait', { timeout: 60 }]] : 'I am done';
    });
    const job = await entered({ name: 'tree' });
    await fire(job);
    await ended(job);
    const [run] = await runsOf(job);
    assert.ok(run);
    assert.deepEqual([run.status, run.result], ['completed', 'I am done']);
    const agents = await stage.store.agents({ root_id: run.root_id });
    assert.deepEqual(agents.map(({ name, state }) => [name, state.type]).toSorted(), [
      ['child', 'killed'],
      ['tree', 'completed'],
    ]);
    await until(() => keeper.led === 0, 'the tree was given up');
    assert.equal((await stage.store.tree(run.root_id))?.live, 0);
  });

  it('it sees no way to start background runs or schedules of its own', async () => {
    await stageOf(() => 'done');
    const job = await entered();
    await stage.store.removeJob(job.id);
    const config = { ...job.config, toolsets: ['process', 'sessions', 'delegate'], tools: ['cron'] };
    const other = await entered({ config });
    await fire(other);
    await ended(other);
    const names = seen[0]?.request.tools.map((tool) => tool.name) ?? [];
    assert.ok(names.includes('fork') && names.includes('subagent_spawn'));
    assert.ok(!names.includes('sessions_spawn') && !names.includes('cron'), names.join());
  });

  it('failure, timeout and cancel are told apart, each is delivered in its own words', async () => {
    const clock = new HandClock();
    const tools = [hangTool(() => clock.pass(45_000))];
    await stageOf(
      (scene) => {
        if (scene.user.startsWith('Finish now')) return 'half of it';
        if (scene.user === 'be slow') return [['hang', {}]];
        if (scene.user === 'hang') return new Promise<string>(() => undefined);
        throw new Error('the model has no answer');
      },
      { tools, clock },
    );
    const deliver = ['file:/tmp/somewhere'];
    const fails = await entered({ name: 'fails', task: 'fail', deliver });
    const late = await entered({
      name: 'late',
      task: 'be slow',
      deliver,
      timeout_ms: 60_000,
      config: { ...CONFIG_OF_JOBS, tools: ['hang'] },
    });
    const stopped = await entered({ name: 'stopped', task: 'hang', deliver });
    for (const job of [fails, late, stopped]) await fire(job);
    await until(async () => (await runsOf(stopped))[0]?.status === 'running', 'it is at work');
    const [agent] = await runsOf(stopped);
    await stage.runtime.interrupt(agent?.agent_id ?? '', 'no longer wanted');
    const texts: string[] = [];
    for (const job of [fails, late, stopped]) {
      await ended(job);
      const [run] = await runsOf(job);
      assert.ok(run);
      const found = await stage.store.deliveries({ about: run.id });
      assert.deepEqual(
        found.map(({ id, kind, status }) => [id, kind, status]),
        [[`run-${run.id}-0`, 'run', 'pending']],
      );
      texts.push(`${run.status}: ${runText(run)}`);
    }
    assert.match(texts[0] ?? '', /^failed: \[Cron: fails\] Failed: /);
    assert.match(
      texts[1] ?? '',
      /^timeout: \[Cron: late\] Timed out: .*\n\nWhat it had by then:\nhalf of it$/s,
    );
    assert.match(texts[2] ?? '', /^cancelled: \[Cron: stopped\] Cancelled: no longer wanted/);
  });

  it('with cleanup delete the tree goes when the result has arrived, and its row stays', async () => {
    await stageOf(() => 'the result');
    const job = await entered({ cleanup: 'delete', deliver: ['file:/tmp/x'] });
    await fire(job);
    await ended(job);
    const [run] = await runsOf(job);
    assert.ok(run);
    assert.deepEqual(await stage.store.cleanRuns(1, 10), []);
    const { worker_id } = stage.runtime;
    const [delivery] = await stage.store.claimDeliveries(worker_id, Date.now() + 1_000, 1, ['file']);
    assert.ok(delivery);
    await stage.store.endDelivery(delivery.id, worker_id, 1, { status: 'delivered', at: 1 });
    assert.deepEqual(await stage.store.cleanRuns(1, 10), [run.agent_id]);
    assert.equal(await stage.store.agent(run.agent_id), null);
    assert.equal(await stage.store.tree(run.root_id), null);
    assert.equal((await runsOf(job))[0]?.result, 'the result');
  });

  it('no more runs of a source are at work than it may have; the others are queued and begin in order', async () => {
    let working = 0;
    let most = 0;
    const order: string[] = [];
    await stageOf(
      async (scene) => {
        working += 1;
        most = Math.max(most, working);
        order.push(scene.name);
        await new Promise((resolve) => setTimeout(resolve, 60));
        working -= 1;
        return 'done';
      },
      { terms: limitedTo({ max_concurrent: 100, per_source: { cron: 2, subagent: 100, delegate: 100 } }) },
    );
    const jobs: NewCronJob[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) jobs.push(await entered({ name: `${name}` }));
    for (const job of jobs) await fire(job);
    await until(
      async () =>
        (await stage.store.runs({ source: 'cron', active: true })).some((run) => run.status === 'queued'),
      'some are queued',
    );
    for (const job of jobs) await ended(job);
    assert.equal(most, 2);
    assert.equal(order.length, 6);
  });

  it('one limit for all sources: a run on a timer waits while a background run has the only place', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await stageOf(
      async (scene) => {
        if (scene.name === 'main')
          return scene.step === 0 ? [['sessions_spawn', { task: 'hold the place' }]] : 'ok';
        if (scene.user === 'hold the place') await held;
        return 'done';
      },
      {
        toolsets: ['sessions'],
        terms: limitedTo({ max_concurrent: 1, per_source: { cron: 5, subagent: 5, delegate: 5 } }),
      },
    );
    await stage.start();
    await until(
      async () => (await stage.store.runs({ source: 'subagent' }))[0]?.status === 'running',
      'it holds',
    );
    const job = await entered();
    await fire(job);
    await until(() => keeper.led === 1, 'the tree is led');
    assert.equal((await runsOf(job))[0]?.status, 'queued');
    release();
    await ended(job);
    assert.equal((await runsOf(job))[0]?.status, 'completed');
  });

  it('what a run delegates works in its place, so that the only place is enough', async () => {
    await stageOf(
      (scene) => {
        if (scene.name !== 'asks') return 'found out';
        const task = { description: 'look', task: 'find it out' };
        return scene.step === 0 ? [['subagent_spawn', task]] : `it says ${scene.last[0]?.output}`;
      },
      { terms: limitedTo({ max_concurrent: 1, per_source: { cron: 1, subagent: 1, delegate: 1 } }) },
    );
    const base = await entered();
    const job = await entered({ name: 'asks', config: { ...base.config, toolsets: ['delegate'] } });
    await fire(job);
    await ended(job);
    assert.match((await runsOf(job))[0]?.result ?? '', /it says .*found out/);
  });

  it('delegations of a conversation queue too when their source has no place, and none is lost', async () => {
    let most = 0;
    let working = 0;
    await stageOf(
      async (scene) => {
        if (scene.name === 'main') {
          const task = (n: number) =>
            ['subagent_spawn', { description: `part ${n}`, task: `part ${n}` }] as const;
          return scene.step === 0 ? [1, 2, 3, 4].map(task) : `${scene.last.length} results`;
        }
        working += 1;
        most = Math.max(most, working);
        await new Promise((resolve) => setTimeout(resolve, 40));
        working -= 1;
        return `done ${scene.user}`;
      },
      {
        toolsets: ['delegate'],
        terms: limitedTo({ max_concurrent: 100, per_source: { cron: 1, subagent: 1, delegate: 1 } }),
      },
    );
    const { reply } = await stage.perform();
    assert.equal(reply, '4 results');
    assert.equal(most, 1);
    assert.deepEqual(
      (await stage.store.runs({ source: 'delegate' })).map((run) => run.status),
      Array(4).fill('completed'),
    );
  });

  it('a server that dies in the middle of a run leaves no stuck flag: the next one ends it, once', async () => {
    let first = true;
    await stageOf(() => (first ? new Promise<string>(() => undefined) : 'after the restart'));
    const job = await entered({ overlap: 'skip' });
    await fire(job);
    await until(async () => (await runsOf(job))[0]?.status === 'running', 'it is at work');
    first = false;
    await keeper.stop();
    open.length = 0;
    stage = await stage.reopen((scene) => `after the restart: ${scene.user}`);
    keep();
    await ended(job);
    assert.equal((await runsOf(job))[0]?.result, 'after the restart: do it');
    await fire(job);
    await ended(job, 2);
  });

  it('an event wakes the main session, which goes on with its conversation', async () => {
    await stageOf((scene) => `said ${scene.user}`);
    const { root } = await stage.perform('hello');
    const job = await entered({ name: 'tea', task: 'time for tea', session: 'main', root_id: root.id });
    await fire(job);
    await until(
      async () => (await stage.store.agent(root.id))?.reply === 'said [Cron: tea] time for tea',
      'it answers',
    );
    assert.equal((await runsOf(job)).length, 0);
    assert.equal(seen.at(-1)?.request.messages.length, 3);
  });
});

function limitedTo(runs: ToolsetTerms['runs']): Pick<ToolsetTerms, 'runs'> {
  return { runs };
}
