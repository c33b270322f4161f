import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import type { Store, Worker } from '../../../src/store/store.ts';
import { fresh, newAgent, newRoot, stepOf } from '../ledger-fixture.ts';

const CALL = { id: 'c1', name: 'bash', input: '{}', side_by_side: false, idempotent: false };

function executing(running: Extract<AgentState, { type: 'executing' }>['running']): AgentState {
  return {
    type: 'executing',
    seq: 1,
    running,
    queued: [],
    results: [],
    spawned: [],
    early: [],
    turn: newTurn(1),
  };
}

/** Part of the store contract: workers, their leases and their deaths. */
export function workersContract(
  stores: () => {
    readonly store: Store;
    readonly other: Store;
    readonly execute: (sql: string) => Promise<void>;
  },
): void {
  const living = async (over: Partial<Worker> = {}): Promise<Worker> => {
    const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1, ...over };
    await stores().store.heartbeat(worker);
    return worker;
  };
  /** A registered worker whose process on this host no longer exists. */
  const dying = () => living({ host: hostname(), pid: 2 ** 22 - 3 });

  it('takes a worker again that has been released, as a new one', async () => {
    const { store, other } = stores();
    const worker = await living({ role: 'worker' });
    await store.release(worker.id);
    assert.equal(await store.heartbeat(worker), true);
    assert.equal((await other.workers()).filter(({ id }) => id === worker.id).length, 1);
  });

  it('lists the role, labels, number of agents and draining state of workers', async () => {
    const { store, other } = stores();
    const worker = await living({ role: 'worker', labels: ['gpu', 'host:elsewhere'] });
    const root = await newRoot(store, {}, { worker: worker.id });
    const find = async () => (await other.workers()).find(({ id }) => id === worker.id);
    const known = await find();
    assert.deepEqual(
      [known?.role, known?.labels, known?.draining],
      ['worker', ['gpu', 'host:elsewhere'], false],
    );
    assert.ok((known?.started_at ?? 0) > 0);
    await store.heartbeat(worker);
    assert.equal((await find())?.started_at, known?.started_at);
    assert.equal((await other.ledBy([worker.id, 'nobody'])).get(worker.id), 1);
    assert.equal(await other.drainWorker(worker.id), true);
    assert.equal(await other.drainWorker('nobody'), false);
    await store.heartbeat(worker);
    assert.equal((await find())?.draining, true);
    await store.release(worker.id);
    assert.equal(await find(), undefined);
    assert.equal((await fresh(store, root)).worker, null);
  });

  it('a lease ends when it runs out, whatever its worker still does', async () => {
    const { store, other, execute } = stores();
    const [silent, next] = [await living(), await living()];
    const root = newAgent(null, { worker: silent.id });
    const { id } = root.agent;
    await store.createRoot(root, DEFAULT_LIMITS, { served: true });
    assert.deepEqual(await other.claim(id, next), []);
    assert.equal((await other.unledTrees(10_000)).includes(id), false);
    await execute(`UPDATE workers SET expires_at = 1 WHERE id = '${silent.id}'`);
    assert.equal((await other.unledTrees(10_000)).includes(id), true);
    assert.equal(
      (await other.workers()).some((worker) => worker.id === silent.id),
      false,
    );
    const before = (await store.agent(id)) as Agent;
    const [claimed] = await other.claim(id, next);
    assert.deepEqual([claimed?.worker, claimed?.epoch], [next.id, before.epoch + 1]);
    // The silent worker wakes up: its lease is renewed, but its agents are lost.
    assert.equal(await store.heartbeat(silent), false);
    const [late] = await store.commit([stepOf(before, { calls: 1 })]);
    assert.ok(late?.ok === false && late.refusal.reason === 'stale');
  });

  it('renewing a lease that had run out reports so, once, also if nobody claimed its agents', async () => {
    const { store, execute } = stores();
    const worker = await living();
    await execute(`UPDATE workers SET expires_at = 1 WHERE id = '${worker.id}'`);
    assert.deepEqual([await store.heartbeat(worker), await store.heartbeat(worker)], [false, true]);
    await store.release(worker.id);
  });

  it('only workers with all labels of a tree find it', async () => {
    const { store, other } = stores();
    const enter = async (placement: readonly string[]): Promise<string> => {
      const root = newAgent(null, { worker: null });
      await store.createRoot(root, DEFAULT_LIMITS, { served: true, placement });
      return root.agent.id;
    };
    const [free, bound, both] = [await enter([]), await enter(['host:a']), await enter(['host:a', 'gpu'])];
    const seen = async (labels: readonly string[]) => {
      const unled = await other.unledTrees(10_000, labels);
      return [free, bound, both].map((id) => unled.includes(id));
    };
    assert.deepEqual(await seen([]), [true, false, false]);
    assert.deepEqual(await seen(['host:a']), [true, true, false]);
    assert.deepEqual(await seen(['gpu', 'host:b']), [true, false, false]);
    assert.deepEqual(await seen(['gpu', 'host:a', 'x']), [true, true, true]);
    assert.deepEqual(await other.placement(both), ['host:a', 'gpu']);
    assert.deepEqual(await other.placement(free), []);
    for (const unserved of [(await newRoot(store)).id, randomUUID()])
      assert.equal(await other.placement(unserved), null);
  });

  it('counts processes that died while a call ran, until the agent rests', async () => {
    const { store } = stores();
    const running = executing([{ call: CALL }]);
    const root = await newRoot(store, {}, { state: running, worker: 'killed' });
    for (const deaths of [1, 2, 3]) {
      const [agent] = await store.claim(root.id, await dying());
      assert.equal(agent?.deaths, deaths);
      const [verdict] = await store.commit([stepOf(agent as Agent, { state: running })]);
      assert.ok(verdict?.ok);
    }
    const [last] = await store.claim(root.id, await living({ host: hostname(), pid: process.pid }));
    await store.commit([stepOf(last as Agent, { state: { type: 'idle' } })]);
    assert.equal((await fresh(store, root)).deaths, 0);
  });

  it('counts no deaths where no call ran: at rest, requesting the model, parked, or released', async () => {
    const { store } = stores();
    const parked: AgentState[] = [
      { type: 'idle' },
      { type: 'requesting', attempt: 1, turn: newTurn(1) },
      executing([{ call: CALL, wait: { from: null, deadline: 1 } }]),
      executing([{ call: CALL, child: 'x' }]),
      executing([{ call: CALL, ask: { id: 'a', at: 1 } }]),
    ];
    for (const state of parked) {
      const root = await newRoot(store, {}, { state, worker: 'killed' });
      const [agent] = await store.claim(root.id, await living());
      assert.equal(agent?.deaths, 0, state.type);
    }
    const root = await newRoot(store, {}, { state: executing([{ call: CALL }]), worker: null });
    assert.equal((await store.claim(root.id, await living()))[0]?.deaths, 0);
    const allowed = executing([{ call: CALL, ask: { id: 'a', at: 1 }, approved: true }]);
    const asked = await newRoot(store, {}, { state: allowed, worker: 'killed' });
    assert.equal((await store.claim(asked.id, await living()))[0]?.deaths, 1);
  });
}
