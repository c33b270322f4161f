/**
 * Proves, on both databases, that a person's orders reach an agent whichever process leads it: given in one runtime, they go through the
 * ledger to the other, which carries them out; the first one sees the outcome.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { CONFIG, child, newRoot } from '../../store/ledger-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { alwaysOnBothDatabases } from '../both-databases.ts';
import { type ApprovalStage, approvalStage, RULES } from '../permissions/approval-stage.ts';
import type { Play, Stage } from '../stage.ts';

interface Shared {
  /** Leads `mid`. */
  readonly left: ApprovalStage;
  /** Leads `root`. */
  readonly right: ApprovalStage;
  readonly root: Agent;
  readonly mid: Agent;
  readonly close: () => Promise<void>;
}

async function shared(play: Play, given: string | undefined): Promise<Shared> {
  const folder = temporaryFolder();
  const database = given ?? `sqlite:${join(folder, 'ledger.db')}`;
  const [left, right] = [await approvalStage(play, database), await approvalStage(play, database)];
  const { store } = left;
  const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
  await store.heartbeat(holder);
  const resting = {
    config: { ...CONFIG, model: 'play/actor', tools: ['act', 'look'], cwd: folder, permissions: RULES },
    state: { type: 'idle' },
  } as const;
  const root = await newRoot(store, { children: 2 }, { ...resting, name: 'main', worker: holder.id });
  const mid = await child(store, root, { ...resting, name: 'mid', worker: null });
  await left.runtime.resume(root.id);
  await store.release(holder.id);
  await right.runtime.resume(root.id);
  const close = async () => {
    await left.close();
    await right.close();
  };
  return { left, right, root, mid, close };
}

async function events(on: Stage, agent: Agent, kind: string): Promise<string[]> {
  return (await on.store.history(agent.id)).flatMap((one) =>
    one.agent_id === agent.id && one.kind === 'event' && one.content.event === kind ? [one.content.text] : [],
  );
}

const state = async (on: Stage, agent: Agent) => (await on.store.agent(agent.id))?.state.type;

/** "hang" never ends; "act X" calls `act` with X; everything else is repeated. */
const play: Play = (scene) => {
  const order = scene.user.split('\n').at(-1) ?? '';
  if (order === 'hang') return new Promise(() => undefined);
  const fresh = scene.request.messages.at(-1)?.role === 'user';
  if (order.startsWith('act ') && fresh) return [['act', { what: order.slice(4) }]];
  return `heard ${order}`;
};

function suite(database: () => Promise<string | undefined>): void {
  it('fork, with a prompt and without, and the refusal of one too many', async () => {
    const { left, right, root, mid, close } = await shared(play, await database());
    const first = await right.runtime.fork(mid.id, 'first', 'hello');
    assert.equal(first.parent_id, mid.id);
    await until(async () => (await right.store.agent(first.id))?.reply !== null, 'it has answered');
    assert.equal((await right.store.agent(first.id))?.reply, 'heard hello');
    assert.ok(left.requests.some(({ agent }) => agent.id === first.id));
    const second = await right.runtime.fork(mid.id, 'second', null);
    assert.equal(second.state.type, 'idle');
    // Children at rest hold no place; those at work do.
    for (const name of ['third', 'fourth']) {
      const { id } = await right.runtime.fork(mid.id, name, 'hang');
      await until(() => left.requests.some(({ agent }) => agent.id === id), 'it works');
    }
    await assert.rejects(right.runtime.fork(mid.id, 'fifth', null), {
      code: 'E_REFUSED',
      message: /limit "children" reached: 2 of 2/,
    });
    assert.equal((await left.store.agents({ root_id: root.id })).length, 6);
    // The root, which is led there, is told of the end of a turn.
    assert.deepEqual(new Set(right.requests.map(({ agent }) => agent.id)), new Set([root.id]));
    await close();
  });

  it('notes, letters and interrupts', async () => {
    const { left, right, mid, close } = await shared(play, await database());
    await right.runtime.capture(mid.id, 'a note');
    await until(
      async () => (await right.store.history(mid.id)).some((one) => one.kind === 'capture'),
      'the note is kept',
    );
    await right.runtime.send(mid.id, 'hang');
    await until(async () => (await state(right, mid)) === 'requesting', 'it works');
    await right.runtime.interrupt(mid.id, 'enough');
    await until(async () => (await state(right, mid)) === 'idle', 'it rests');
    assert.deepEqual(await events(right, mid, 'interrupted'), ['interrupted by you: enough']);
    assert.doesNotMatch(JSON.stringify(left.requests.map(({ messages }) => messages)), /a note/);
    await close();
  });

  it('a wait for an agent in another process ends when that agent answers', async () => {
    const { left, right, root, mid, close } = await shared(play, await database());
    await right.runtime.send(root.id, 'hang');
    await until(async () => (await state(left, root)) === 'requesting', 'the root works');
    await right.runtime.wait(mid.id, 3_600_000, [root.id]);
    await until(async () => (await state(right, mid)) === 'waiting', 'it waits');
    await left.runtime.interrupt(root.id, 'enough');
    await until(async () => (await events(right, mid, 'waited')).length === 1, 'the wait is over');
    const [{ results }] = (await events(right, mid, 'waited')).map((text) => JSON.parse(text)) as [
      { results: { name: string; status: string }[] },
    ];
    assert.deepEqual(
      results.map(({ name, status }) => [name, status]),
      [['main', 'idle']],
    );
    await close();
  });

  it('a wait for an agent created in another process finds it', async () => {
    const { right, root, mid, close } = await shared(play, await database());
    const born = await right.runtime.fork(root.id, 'born', 'hang');
    await right.runtime.wait(mid.id, 3_600_000, [born.id]);
    await until(async () => (await state(right, mid)) === 'waiting', 'it waits');
    await right.runtime.kill(born.id);
    await until(async () => (await events(right, mid, 'waited')).length === 1, 'the wait is over');
    assert.match((await events(right, mid, 'waited'))[0] ?? '', /"name":"born","status":"dead"/);
    await close();
  });

  it('an answer to an ask', async () => {
    const { left, right, root, mid, close } = await shared(play, await database());
    await right.runtime.send(mid.id, 'act now');
    const [ask] = await right.asked(root);
    assert.deepEqual([ask?.agent_name, ask?.subject], ['mid', 'now']);
    await right.allow(ask);
    await until(async () => (await state(right, mid)) === 'idle', 'it has gone on');
    assert.deepEqual([left.deeds, right.deeds], [[{ agent: 'mid', what: 'now' }], []]);
    await assert.rejects(left.deny(ask), { code: 'E_ASK_ANSWERED' });
    await close();
  });
}

alwaysOnBothDatabases('orders to agents that another process leads', suite);
