// Proves, on both databases, how many background runs work at once: in order, across restarts, cancelled, killed, a hundred at a time, up to every limit.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { isWorking } from '../../../src/records/agent/state.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import type { Play, Stage } from '../stage.ts';
import {
  announced,
  concurrent,
  Doors,
  outputs,
  playOf,
  ROOM,
  runCalled,
  runsOf,
  spawn,
} from './sessions-play.ts';

const NEVER = new Promise<string>(() => undefined);
const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f'];
const all = (labels: readonly string[], over: object = {}) =>
  labels.map((label) => spawn(label, { label, ...over }));

onBothDatabases('background runs', (database) => {
  const stage = stagesOn(database, { toolsets: ['sessions'] });

  /** A play whose sub-agents wait at the door with their name; `begun` lists them in the order of their first requests. */
  function behindDoors(labels: readonly string[], begun: string[], doors: Doors): Play {
    return playOf(all(labels), async (task) => {
      begun.push(task);
      await doors.pass(task);
      return `result of ${task}`;
    });
  }

  const statuses = async (on: Stage, root: { readonly id: string }) =>
    (await on.store.runs({ root_id: root.id })).toReversed().map((run) => run.status);

  it('at most max_concurrent runs work at once; the others begin in the order of the requests', async () => {
    const [begun, doors] = [[] as string[], new Doors()];
    const on = await stage(behindDoors(LETTERS, begun, doors), { terms: concurrent(2) });
    const root = await on.start();
    await until(() => begun.length === 2, 'two are at work');
    assert.deepEqual(await statuses(on, root), ['running', 'running', ...Array(4).fill('queued')]);
    assert.equal((await outputs(on, root)).filter((one) => one.status === 'accepted').length, 6);
    doors.open('b');
    await until(() => begun.length === 3, 'the third has begun');
    assert.equal((await runCalled(on, root, 'd')).status, 'queued');
    doors.open(...LETTERS);
    await on.runtime.settled(root.id);
    assert.deepEqual(begun, LETTERS);
    assert.equal((await announced(on, root)).length, 6);
    for (const run of await runsOf(on, root)) assert.ok((run.started_at ?? 0) >= run.created_at);
  });

  it('20 calls in one message are 20 runs: those that are queued count towards no limit of busy agents', async () => {
    const labels = Array.from({ length: 20 }, (_, at) => `run-${at + 1}`);
    const [begun, doors] = [[] as string[], new Doors()];
    const on = await stage(behindDoors(labels, begun, doors), { terms: concurrent(8) });
    const root = await on.start();
    await until(() => begun.length === 8, 'eight are at work');
    assert.deepEqual(await statuses(on, root), [...Array(8).fill('running'), ...Array(12).fill('queued')]);
    doors.open(...labels);
    await on.runtime.settled(root.id);
    assert.equal((await outputs(on, root)).filter((one) => one.status === 'accepted').length, 20);
    assert.deepEqual(begun, labels);
    assert.equal((await announced(on, root)).length, 20);
  });

  it('two slots that become free at the same time are both taken', async () => {
    const [begun, doors] = [[] as string[], new Doors()];
    const on = await stage(behindDoors(LETTERS, begun, doors), { terms: concurrent(3) });
    const root = await on.start();
    await until(() => begun.length === 3, 'three are at work');
    doors.open('a', 'b', 'c');
    await until(() => begun.length === 6, 'the other three work side by side');
    assert.deepEqual(await statuses(on, root), [...Array(3).fill('completed'), ...Array(3).fill('running')]);
    doors.open(...LETTERS);
    await on.runtime.settled(root.id);
  });

  it('queued runs survive a restart and begin in order', async () => {
    const [begun, doors] = [[] as string[], new Doors()];
    const play = behindDoors(LETTERS, begun, doors);
    const on = await stage(play, { terms: concurrent(1) });
    const root = await on.start();
    await until(() => begun.length === 1, 'the first is at work');
    const next = await on.reopen();
    assert.deepEqual(await statuses(next, root), ['running', ...Array(5).fill('queued')]);
    begun.length = 0;
    await next.runtime.resume(root.id);
    await until(() => begun.length === 1, 'the first is asked again');
    doors.open(...LETTERS);
    await next.runtime.settled(root.id);
    assert.deepEqual(begun, LETTERS);
    assert.equal(new Set(await announced(next, root)).size, 6);
    assert.equal((await announced(next, root)).length, 6);
  });

  it('a cancelled queued run makes no request, is announced, and frees no slot', async () => {
    const [begun, doors] = [[] as string[], new Doors()];
    const on = await stage(behindDoors(['a', 'b', 'c'], begun, doors), { terms: concurrent(1) });
    const root = await on.start();
    await until(() => begun.length === 1, 'the first is at work');
    const run = await runCalled(on, root, 'b');
    await on.runtime.interrupt(run.agent_id, 'not needed');
    await until(async () => (await runCalled(on, root, 'b')).status === 'cancelled', 'it is cancelled');
    assert.deepEqual(await statuses(on, root), ['running', 'cancelled', 'queued']);
    doors.open('a', 'c');
    await on.runtime.settled(root.id);
    assert.deepEqual(begun, ['a', 'c']);
    assert.equal((await runCalled(on, root, 'b')).started_at, null);
    assert.ok((await announced(on, root)).includes('[Subagent: b] Cancelled: not needed'));
  });

  it('a letter to a queued run does not start it early or without its task', async () => {
    const [begun, doors] = [[] as string[], new Doors()];
    const on = await stage(behindDoors(['a', 'b'], begun, doors), { terms: concurrent(1) });
    const root = await on.start();
    await until(() => begun.length === 1, 'the first is at work');
    await on.runtime.send((await runCalled(on, root, 'b')).agent_id, 'mind the gap');
    doors.open('b');
    // The letter alone has no effect: this later step of the tree is complete, and the queued run has still not begun.
    await on.runtime.send(root.id, 'and you?');
    const requests = () => on.requests.filter((request) => request.agent.id === root.id).length;
    await until(() => requests() === 3, 'the root has answered');
    assert.deepEqual(begun, ['a']);
    doors.open('a');
    await on.runtime.settled(root.id);
    assert.deepEqual(begun, ['a', 'b']);
    const last = on.requests.find((request) => request.agent.name === 'b');
    assert.deepEqual(
      last?.messages.map((message) => (message.role === 'user' ? message.text : message.role)),
      ['b', 'mind the gap'],
    );
  });

  it('killing the requester ends its runs, queued ones too, and nothing is announced', async () => {
    const [begun, doors] = [[] as string[], new Doors()];
    const on = await stage(behindDoors(LETTERS, begun, doors), { terms: concurrent(2) });
    const root = await on.start();
    await until(() => begun.length === 2, 'two are at work');
    assert.equal((await on.runtime.kill(root.id)).length, 7);
    const { failure } = await on.runtime.settled(root.id);
    assert.equal(failure?.kind, 'killed');
    assert.deepEqual(await statuses(on, root), Array(6).fill('cancelled'));
    assert.deepEqual(await on.store.mail(root.id, true), []);
    assert.equal((await on.store.tree(root.id))?.live, 0);
    assert.equal(begun.length, 2);
  });

  it('a requester that kills its own run by a tool gets the announcement, and the next run begins', async () => {
    const begun: string[] = [];
    const play: Play = async (scene) => {
      if (scene.name !== 'main') {
        begun.push(scene.name);
        return scene.name === 'stuck' ? NEVER : 'done';
      }
      if (scene.step === 0) return all(['stuck', 'next']);
      if (scene.step === 1) {
        await until(() => begun.length === 1, 'the first is at work');
        return [['kill', { agent_id: 'stuck' }]];
      }
      return 'ok';
    };
    const on = await stage(play, { toolsets: ['process', 'sessions'], terms: concurrent(1) });
    const { root } = await on.perform();
    assert.deepEqual((await announced(on, root)).toSorted(), [
      '[Subagent: next] Complete.\n\ndone',
      '[Subagent: stuck] Cancelled: Killed by main',
    ]);
    assert.deepEqual(begun, ['stuck', 'next']);
  });

  it('of a hundred concurrent runs, with some that hang, fail or flood, eight work at a time, and each is announced once', async () => {
    const flood = 'x'.repeat(1_000_000);
    const labels = Array.from({ length: 100 }, (_, index) => `run-${index}`);
    let [working, most] = [0, 0];
    const calls = labels.map((label) =>
      spawn(label, { label, ...(label === 'run-5' ? { timeoutSeconds: 1 } : {}) }),
    );
    const play = playOf(calls, async (task) => {
      working += 1;
      most = Math.max(most, working);
      // Lets the other runs begin while this one is at work.
      await new Promise((resolve) => setImmediate(resolve));
      working -= 1;
      if (task === 'run-5') return NEVER;
      if (task === 'run-6') throw new Error('away');
      return task === 'run-7' ? flood : `result of ${task}`;
    });
    const on = await stage(play, { terms: concurrent(8) });
    let busiest = 0;
    const at_work = new Set<string>();
    on.runtime.subscribe((event) => {
      if (event.type !== 'agent' || event.agent.origin !== 'session') return;
      if (isWorking(event.agent.state.type)) at_work.add(event.agent.id);
      else at_work.delete(event.agent.id);
      busiest = Math.max(busiest, at_work.size);
    });
    const { root, agents } = await on.perform('begin', ROOM);
    assert.equal(busiest, 8);
    assert.ok(most <= 8 && most > 1, `${most} requests at once`);
    const heads = (await announced(on, root)).map((text) => text.slice(0, 40).split('\n')[0]);
    assert.deepEqual(
      heads.toSorted(),
      labels
        .map((label) => {
          if (label === 'run-5') return '[Subagent: run-5] Timed out: limit reach';
          return `[Subagent: ${label}] ${label === 'run-6' ? 'Failed: away' : 'Complete.'}`;
        })
        .toSorted(),
    );
    assert.ok((await announced(on, root)).some((text) => text.endsWith(flood)));
    const runs = await runsOf(on, root);
    assert.deepEqual(
      [runs.filter((run) => run.status === 'completed').length, runs[5]?.status, runs[6]?.status],
      [98, 'timeout', 'failed'],
    );
    assert.equal(agents.length, 101);
  });

  it('twenty calls of one message are twenty runs with the usual limits, and one that is queued or at work can be listed and cancelled', async () => {
    const labels = Array.from({ length: 20 }, (_, index) => `run-${index}`);
    const [begun, doors] = [[] as string[], new Doors()];
    const listed: string[] = [];
    const on = await stage(async (scene) => {
      if (scene.name !== 'main') {
        begun.push(scene.name);
        await doors.pass('all');
        return 'done';
      }
      if (scene.step === 0) return labels.map((label) => spawn('t', { label }));
      if (scene.step === 1) return [['sessions_list', {}]];
      if (scene.step === 2) {
        listed.push(...scene.last.map(({ output }) => output));
        return ['run-0', 'run-19', 'nobody'].map((label) => ['sessions_cancel', { label }] as const);
      }
      if (scene.step === 3) {
        listed.push(...scene.last.map(({ output }) => output));
        doors.open('all');
      }
      return 'resting';
    });
    const { root } = await on.perform('begin', {});
    const rows = (JSON.parse(listed[0] ?? '{}') as { runs: { label: string; status: string }[] }).runs;
    assert.deepEqual(rows.map(({ label }) => label).toSorted(), labels.toSorted());
    assert.ok(rows.filter(({ status }) => status === 'queued').length >= 12);
    assert.match(listed[1] ?? '', /"status":"cancelled"/);
    assert.match(listed[2] ?? '', /"status":"cancelled"/);
    assert.match(listed[3] ?? '', /not one open run .*nobody.*run-1\b/);
    const runs = await runsOf(on, root);
    assert.equal(runs.length, 20);
    assert.equal(runs.filter(({ status }) => status === 'completed').length, 18);
    assert.equal(runs.filter(({ status }) => status === 'cancelled').length, 2);
    assert.equal((await announced(on, root)).length, 20);
    assert.ok(!begun.includes('run-19'), 'a queued run that is cancelled never begins');
  });

  for (const [limit, value, created] of [
    ['children', 5, 5],
    ['live', 5, 4],
    ['total', 5, 4],
    ['depth', 0, 0],
  ] as const)
    it(`the limit ${limit} admits exactly what it allows`, async () => {
      const on = await stage(playOf(all([...LETTERS, 'g', 'h']), () => 'done'));
      const { root } = await on.perform('begin', { [limit]: value });
      const results = await outputs(on, root);
      assert.deepEqual(
        results.map((one) => one.status ?? (one.error as { code: string }).code),
        [...Array(created).fill('accepted'), ...Array(8 - created).fill('LIMIT_REACHED')],
      );
      assert.match(
        JSON.stringify(results.at(-1)),
        new RegExp(`limit \\\\"${limit}\\\\" reached: .*--limit ${limit}=\\d+`),
      );
      assert.equal((await runsOf(on, root)).length, created);
      assert.equal((await announced(on, root)).length, created);
    });

  it('a stop ordered by another process reaches the run; for an ended run it is refused', async () => {
    const [begun, doors] = [[] as string[], new Doors()];
    const on = await stage(behindDoors(['a'], begun, doors));
    const root = await on.start();
    await until(() => begun.length === 1, 'it is at work');
    const { agent_id } = await runCalled(on, root, 'a');
    const order = () => ({
      id: randomUUID(),
      root_id: root.id,
      to_id: agent_id,
      from_id: null,
      from_name: 'you',
      kind: 'control' as const,
      body: JSON.stringify({ type: 'cancel', reason: 'enough' }),
      sent_at: Date.now(),
    });
    const store = await on.elsewhere();
    assert.equal((await store.send(order())).ok, true);
    await until(async () => (await announced(on, root)).length === 1, 'the end is announced');
    assert.deepEqual(await announced(on, root), ['[Subagent: a] Cancelled: enough']);
    assert.equal((await store.send(order())).ok, false);
  });
});
