/**
 * Proves, on both databases, that a person can let an agent at rest wait as its model could (`/wait`): with the same modes and statuses;
 * the result is shown to people only, and the agent is busy until then.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type Line, type Play, type Scene, type Stage, setStage } from '../stage.ts';

const HOUR = 3_600_000;

interface Row {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly last_reply?: string;
}
interface Waited {
  readonly status?: string;
  readonly name?: string;
  readonly message?: string;
  readonly results?: readonly Row[];
  readonly timed_out?: boolean;
  readonly interrupted?: boolean;
}

async function events(on: Stage, agent: Agent, kind: string): Promise<string[]> {
  return (await on.store.history(agent.id)).flatMap((one) =>
    one.agent_id === agent.id && one.kind === 'event' && one.content.event === kind ? [one.content.text] : [],
  );
}

const waited = async (on: Stage, agent: Agent): Promise<Waited[]> =>
  (await events(on, agent, 'waited')).map((text) => JSON.parse(text) as Waited);

async function state(on: Stage, agent: Agent): Promise<string | undefined> {
  return (await on.store.agent(agent.id))?.state.type;
}

/** Resolves with the newest result when `count` waits of the agent have ended. */
async function result(on: Stage, agent: Agent, count = 1): Promise<Waited | undefined> {
  await until(async () => (await waited(on, agent)).length === count, 'the wait is over');
  return (await waited(on, agent)).at(-1);
}

async function begin(
  on: Stage,
  agent: Agent,
  from: readonly Agent[] | null,
  timeout_ms = HOUR,
): Promise<void> {
  await on.runtime.wait(agent.id, timeout_ms, from === null ? null : from.map(({ id }) => id));
  await until(async () => (await state(on, agent)) === 'waiting', 'it waits');
}

/** The root rests; a child obeys: "say X" sends X to its parent, "hang" never ends, "quietly" replies without sending anything. */
const obedient: Play = (scene: Scene): Line | Promise<Line> => {
  if (scene.name === 'main') return `heard ${scene.user}`;
  const [, order] = /([^\n]*)$/.exec(scene.user) ?? [];
  if (order?.startsWith('hang')) return new Promise(() => undefined);
  if (!order?.startsWith('say ')) return `thought about ${order}`;
  const asked = scene.request.messages.at(-1)?.role === 'user';
  return asked ? [['send', { to: scene.parent_id, message: order.slice(4) }]] : 'said it';
};

function suite(database: () => Promise<string | undefined>): void {
  async function family(...names: string[]): Promise<{ on: Stage; root: Agent; kids: Agent[] }> {
    const on = await setStage(obedient, { database: await database() });
    const { root } = await on.perform('hello');
    const kids: Agent[] = [];
    for (const name of names) kids.push(await on.runtime.fork(root.id, name, null));
    return { on, root, kids };
  }
  const asked = (on: Stage) => on.requests.filter(({ agent }) => agent.name === 'main').length;

  it('next message: shows the first letter from anyone, and leaves it to the agent, which it wakes', async () => {
    const { on, root, kids } = await family('kid');
    await begin(on, root, null);
    await on.runtime.send(kids[0]?.id ?? '', 'say 漢字 🎋');
    const { status, name, message } = (await result(on, root)) ?? {};
    assert.deepEqual([status, name, message], ['received', 'kid', '漢字 🎋']);
    await on.runtime.settled(root.id);
    assert.equal(await state(on, root), 'idle');
    assert.deepEqual(await on.store.mail(root.id), []);
    assert.equal(asked(on), 2);
    assert.match(JSON.stringify(on.requests.at(-1)?.messages.at(-1)), /message from kid.*漢字 🎋/);
  });

  it('fan-in: shows the four statuses in the order of the arguments, also when interrupted', async () => {
    const { on, root, kids } = await family('writes', 'hangs', 'rests', 'dies', 'thinks');
    const [writes, hangs, rests, dies, thinks] = kids as [Agent, Agent, Agent, Agent, Agent];
    await on.runtime.send(hangs.id, 'hang');
    await begin(on, root, [dies, thinks, rests, hangs, writes]);
    for (const [kid, order] of [
      [thinks, 'quietly'],
      [writes, 'say done'],
    ] as const)
      await on.runtime.send(kid.id, order);
    await on.runtime.kill(dies.id);
    // The agent is also idle before it has read the order, so its letter to the root is awaited, too.
    await until(async () => {
      const mail = await on.store.mail(root.id);
      return mail.some(({ body }) => body === 'done') && (await state(on, writes)) === 'idle';
    }, 'the writer is done');
    await until(async () => (await on.store.agent(thinks.id))?.reply !== null, 'the thinker is done');
    await on.runtime.interrupt(root.id, 'enough');
    const { results, interrupted, timed_out } = (await result(on, root)) ?? {};
    assert.deepEqual([interrupted, timed_out], [true, undefined]);
    assert.deepEqual(
      results?.map((row) => [row.name, row.status, row.message ?? row.last_reply]),
      [
        ['dies', 'dead', undefined],
        ['thinks', 'idle', 'thought about quietly'],
        ['rests', 'idle', undefined],
        ['hangs', 'running', undefined],
        ['writes', 'received', 'done'],
      ],
    );
    assert.equal(await state(on, hangs), 'requesting');
    await until(async () => (await state(on, root)) === 'idle', 'the agent has read it, too');
    assert.deepEqual(await on.store.mail(root.id), []);
    assert.equal(asked(on), 2);
    const read = JSON.stringify(on.requests.findLast(({ agent }) => agent.name === 'main')?.messages.at(-1));
    for (const said of [/message from writes.*done/, /message from thinks.*thought about quietly/])
      assert.match(read, said);
  });

  it('ends when the last awaited agent has answered, died or come to rest', async () => {
    const { on, root, kids } = await family('a', 'b');
    const [a, b] = kids as [Agent, Agent];
    for (const kid of kids) await on.runtime.send(kid.id, 'hang');
    await until(async () => (await state(on, b)) === 'requesting', 'both are at work');
    await begin(on, root, [a, b]);
    await on.runtime.kill(a.id);
    await on.runtime.interrupt(b.id, 'rest');
    const { results, interrupted, timed_out } = (await result(on, root)) ?? {};
    assert.deepEqual(
      results?.map(({ status }) => status),
      ['dead', 'idle'],
    );
    assert.deepEqual([interrupted, timed_out], [undefined, undefined]);
  });

  it('returns marked partial results when its time is 0 or runs out; an empty list is nothing to wait for', async () => {
    const { on, root, kids } = await family('kid');
    const [kid] = kids as [Agent];
    await on.runtime.wait(root.id, 0, null);
    assert.equal((await result(on, root))?.status, 'timeout');
    await on.runtime.wait(root.id, 0, []);
    assert.equal((await result(on, root, 2))?.status, 'timeout');
    await on.runtime.send(kid.id, 'hang');
    await until(async () => (await state(on, kid)) === 'requesting', 'it works');
    for (const [count, timeout_ms] of [
      [3, 0],
      [4, 50],
    ] as const) {
      await on.runtime.wait(root.id, timeout_ms, [kid.id]);
      const { results, timed_out } = (await result(on, root, count)) ?? {};
      assert.deepEqual([results?.[0]?.status, timed_out], ['running', true]);
    }
    for (const timeout_ms of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      await assert.rejects(on.runtime.wait(root.id, timeout_ms, null), { code: 'E_INVALID_ARGUMENT' });
    assert.equal(asked(on), 1);
  });

  it('occupies the agent: letters of people do not end the wait and are delivered after it', async () => {
    const { on, root, kids } = await family('kid', 'other');
    const [kid, other] = kids as [Agent, Agent];
    await on.runtime.send(kid.id, 'hang');
    await until(async () => (await state(on, kid)) === 'requesting', 'it works');
    for (const from of [null, [kid]]) {
      const before = asked(on);
      await begin(on, root, from);
      await on.runtime.send(root.id, 'my own words');
      if (from !== null) await on.runtime.send(other.id, 'say unlisted');
      if (from !== null)
        await until(async () => (await on.store.mail(root.id)).length === 2, 'both lie there');
      assert.equal(await state(on, root), 'waiting');
      assert.equal(asked(on), before);
      await on.runtime.interrupt(root.id, 'enough');
      await until(() => asked(on) === before + 1, 'the model is asked');
      await until(async () => (await state(on, root)) === 'idle', 'it rests');
      assert.match(JSON.stringify(on.requests.at(-1)?.messages.at(-1)), /my own words/);
    }
    assert.deepEqual(
      (await waited(on, root)).map(({ status }) => status),
      ['interrupted', undefined],
    );
    assert.match(JSON.stringify(on.requests.at(-1)?.messages), /unlisted/);
    assert.deepEqual(await on.store.mail(root.id), []);
  });

  it('is refused while the agent works, for the agent itself, and where it would close a cycle, with the reason', async () => {
    const on = await setStage(
      (scene) => {
        if (scene.name !== 'main') return obedient(scene);
        return scene.step === 1 ? [['wait', { timeout: 7_200, from_agents: ['rests', 'hangs'] }]] : 'ready';
      },
      { database: await database() },
    );
    const { root } = await on.perform();
    const rests = await on.runtime.fork(root.id, 'rests', null);
    const hangs = await on.runtime.fork(root.id, 'hangs', 'hang');
    await until(async () => (await state(on, hangs)) === 'requesting', 'it works');
    await on.runtime.send(root.id, 'wait for them');
    await until(async () => (await on.agent('main')).doing === 'wait 2 agents', 'the root waits');
    const refusal = async (agent: Agent, from: readonly Agent[]): Promise<string | undefined> => {
      const before = (await events(on, agent, 'notice')).length;
      await on.runtime.wait(
        agent.id,
        HOUR,
        from.map(({ id }) => id),
      );
      await until(async () => (await events(on, agent, 'notice')).length > before, 'people are told');
      return (await events(on, agent, 'notice')).at(-1);
    };
    assert.match((await refusal(root, [rests])) ?? '', /the agent is at work; interrupt it first/);
    assert.match((await refusal(rests, [rests])) ?? '', /cannot wait for itself/);
    assert.match((await refusal(rests, [hangs, root])) ?? '', /WOULD_DEADLOCK.*rests → main → rests/);
    assert.equal(await state(on, rests), 'idle');
    assert.deepEqual(await waited(on, rests), []);
    await begin(on, rests, [hangs]);
  });

  it('continues after a restart, and ends with mail that came meanwhile', async () => {
    const { on, root, kids } = await family('kid', 'beside');
    const [kid, beside] = kids as [Agent, Agent];
    await begin(on, beside, null);
    await on.runtime.send(kid.id, 'hang');
    await until(async () => (await state(on, kid)) === 'requesting', 'it works');
    await begin(on, root, [kid]);
    const again = await on.reopen();
    await again.runtime.resume(root.id);
    assert.deepEqual([await state(again, root), await state(again, beside)], ['waiting', 'waiting']);
    await until(async () => (await state(again, kid)) === 'requesting', 'it works again');
    await again.runtime.interrupt(kid.id, 'rest');
    assert.deepEqual(
      (await result(again, root))?.results?.map(({ status }) => status),
      ['idle'],
    );
    await again.runtime.kill(beside.id);
    await again.runtime.settled(root.id);
    assert.equal(again.requests.filter(({ agent }) => agent.name === 'main').length, 0);
  });
}

onBothDatabases('a wait that a person orders', suite);
