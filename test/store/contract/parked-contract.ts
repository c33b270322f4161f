import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import type { Store, Worker } from '../../../src/store/store.ts';
import { until } from '../../until.ts';
import { fresh, letter, newAgent, said, stepOf } from '../ledger-fixture.ts';

const HOUR_MS = 3_600_000;
const PARKED: AgentState = {
  type: 'waiting',
  wait: { from: null, deadline: Number.MAX_SAFE_INTEGER },
  since: 1,
};

interface Tree {
  readonly root: Agent;
  /** The agent that the root waits for. */
  readonly child: Agent;
  readonly worker: Worker;
}

/** Part of the store contract: trees that were released while their agents wait. */
export function parkedContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  async function agentOf(id: string): Promise<Agent> {
    const agent = await stores().store.agent(id);
    assert.ok(agent);
    return agent;
  }
  async function plant(served = true): Promise<Tree> {
    const { store } = stores();
    const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1 };
    await store.heartbeat(worker);
    const made = newAgent(null, { worker: worker.id, state: PARKED });
    await store.createRoot(made, DEFAULT_LIMITS, { served });
    const root = await agentOf(made.agent.id);
    const child = newAgent(root, { worker: worker.id, state: PARKED });
    const [verdict] = await store.commit([
      stepOf(root, {
        messages: [said('x')],
        create: [child],
        state: PARKED,
        waits_for: [child.agent.id],
      }),
    ]);
    assert.ok(verdict?.ok, JSON.stringify(verdict));
    return { root: await fresh(store, root), child: await agentOf(child.agent.id), worker };
  }
  /** Releases the tree; its agents stay parked for `root_ms` and `child_ms`. */
  async function park({ root, child, worker }: Tree, root_ms: number, child_ms: number): Promise<void> {
    const { store } = stores();
    const now = await store.now();
    const parked = new Map([
      [root.id, now + root_ms],
      [child.id, now + child_ms],
    ]);
    await store.releaseTree(root.id, worker.id, parked);
  }
  const isUnled = async ({ root }: Tree) => (await stores().other.unledTrees(100_000)).includes(root.id);
  const workerOf = async (agent: Agent) => (await stores().other.agent(agent.id))?.worker;

  it('parked agents have no leader and need none until a letter comes', async () => {
    const { store, other } = stores();
    const tree = await plant();
    await park(tree, HOUR_MS, HOUR_MS);
    assert.deepEqual([await workerOf(tree.root), await workerOf(tree.child)], [null, null]);
    assert.equal(await isUnled(tree), false);
    assert.ok((await other.send({ ...letter(tree.child, tree.child), from_id: null })).ok);
    assert.equal(await isUnled(tree), true);
    assert.equal((await store.claim(tree.root.id, tree.worker)).length, 2);
    assert.equal(await isUnled(tree), false);
  });

  it('they are unled when the first of them is due, and not once they are led', async () => {
    const { store } = stores();
    const tree = await plant();
    await park(tree, HOUR_MS, 200.5);
    await until(() => isUnled(tree), 'it is due');
    await store.claim(tree.root.id, tree.worker);
    await park(tree, HOUR_MS, Number.POSITIVE_INFINITY);
    assert.equal(await isUnled(tree), false);
    await store.claim(tree.root.id, tree.worker);
    await park(tree, -1, HOUR_MS);
    assert.equal(await isUnled(tree), true);
  });

  it('an agent without a time limit needs a leader only once it has a letter, also one that reached its worker before', async () => {
    const { store, other } = stores();
    const tree = await plant();
    const forever = Number.POSITIVE_INFINITY;
    await park(tree, forever, forever);
    assert.equal(await isUnled(tree), false);
    assert.ok((await other.send({ ...letter(tree.root, tree.root), from_id: null })).ok);
    assert.equal(await isUnled(tree), true);
    await store.claim(tree.root.id, tree.worker);
    await park(tree, forever, forever);
    assert.equal(await isUnled(tree), true, 'the letter was not read');
  });

  it('finds requests that wait until a time that has not come, of trees that nobody leads', async () => {
    const { store, other } = stores();
    const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1 };
    await store.heartbeat(worker);
    const plantRequest = async (state: AgentState, served = true) => {
      const made = newAgent(null, { worker: worker.id, state });
      await store.createRoot(made, DEFAULT_LIMITS, { served });
      return made.agent.id;
    };
    const asks: AgentState = { type: 'requesting', turn: newTurn(1), attempt: 1 };
    const ids = {
      parked: await plantRequest(asks),
      due: await plantRequest(asks),
      waits: await plantRequest(PARKED),
      not_served: await plantRequest(asks, false),
      led: await plantRequest(asks),
    };
    const found = async () => {
      const all = (await other.parkedRequests(100_000)).map(({ id }) => id);
      return Object.entries(ids).flatMap(([name, id]) => (all.includes(id) ? name : []));
    };
    assert.deepEqual(await found(), []);
    const now = await store.now();
    for (const [id, ms] of [
      [ids.parked, HOUR_MS],
      [ids.due, -1],
      [ids.waits, HOUR_MS],
      [ids.not_served, HOUR_MS],
    ] as const)
      await store.releaseTree(id, worker.id, new Map([[id, now + ms]]));
    assert.deepEqual(await found(), ['parked']);
    assert.equal((await other.parkedRequests(1)).length, 1);
  });

  it('they are unled when an agent that they wait for ends', async () => {
    const { other } = stores();
    const tree = await plant();
    await park(tree, HOUR_MS, HOUR_MS);
    await other.kill(tree.child.id, 'you', 1);
    assert.equal(await isUnled(tree), true);
    assert.equal((await other.claim(tree.root.id, tree.worker)).length, 1);
  });

  it('they are unled when an agent that they wait for ended and their worker has not read the signal', async () => {
    const { store, other } = stores();
    const [tree, same] = [await plant(), await plant()];
    await other.kill(tree.child.id, 'you', 1);
    await park(tree, HOUR_MS, HOUR_MS);
    assert.equal(await isUnled(tree), true);
    for (const one of [tree, same]) await store.claim(one.root.id, one.worker);
    for (const one of [tree, same]) await store.signals(one.worker.id);
    for (const one of [tree, same]) await store.signals(one.worker.id);
    for (const one of [tree, same]) await park(one, HOUR_MS, HOUR_MS);
    for (const one of [tree, same]) assert.equal(await isUnled(one), false, 'it was heard');
  });

  it('a wait that is over is not parked, even if its worker read the signal and gives up the tree', async () => {
    const { store, other } = stores();
    const tree = await plant();
    const root = await agentOf(tree.root.id);
    const wait = { from: [tree.child.id], deadline: Number.MAX_SAFE_INTEGER };
    const state: AgentState = { type: 'waiting', wait, since: 1 };
    const [verdict] = await store.commit([stepOf(root, { messages: [said('y')], state })]);
    assert.ok(verdict?.ok);
    await park(tree, HOUR_MS, HOUR_MS);
    assert.equal(await isUnled(tree), false, 'the child is at work');
    await store.claim(tree.root.id, tree.worker);
    await other.kill(tree.child.id, 'you', 1);
    while ((await store.signals(tree.worker.id)).length > 0);
    await park(tree, HOUR_MS, HOUR_MS);
    assert.equal(await isUnled(tree), true);
  });

  it('a kill while a tree is given up: the waiting agent gets a signal, or is unled', async () => {
    const { store, other } = stores();
    for (let round = 0; round < 30; round += 1) {
      const tree = await plant();
      await Promise.all([park(tree, HOUR_MS, HOUR_MS), other.kill(tree.child.id, 'you', 1)]);
      assert.equal(await isUnled(tree), true, `round ${round}`);
      await store.claim(tree.root.id, tree.worker);
      await store.release(tree.worker.id);
    }
  });

  it('agents that are not parked are unled at once, also in a tree that becomes served, or after their worker died', async () => {
    const { store, other } = stores();
    const tree = await plant();
    await store.releaseTree(
      tree.root.id,
      tree.worker.id,
      new Map([[tree.root.id, Number.POSITIVE_INFINITY]]),
    );
    assert.equal(await isUnled(tree), true, 'the child is at work');
    const own = await plant(false);
    await park(own, HOUR_MS, HOUR_MS);
    assert.equal(await isUnled(own), false);
    await other.serveTree(own.root.id);
    assert.equal(await isUnled(own), true);
    const dead = await plant();
    await store.release(dead.worker.id);
    assert.equal(await isUnled(dead), true);
  });
}
