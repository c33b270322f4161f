// Proves on both databases that the trees found to need a leader are those that need one by the rows of agents, mail and workers, whatever was called before.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { Agent } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { type AgentState, isTerminal, isWorking, newTurn } from '../../src/records/agent/state.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store, Worker } from '../../src/store/store.ts';
import { DEEP } from '../house/deep.ts';
import { alwaysOnBothDatabases } from '../runtime/both-databases.ts';
import { letter, newAgent, said, stepOf } from './ledger-fixture.ts';

const CALLS = DEEP ? 250 : 100;
const ROUNDS = DEEP ? 12 : 4;
const GONE_PID = 2 ** 22 - 3;
const STATES: readonly AgentState[] = [
  { type: 'idle' },
  { type: 'requesting', attempt: 1, turn: newTurn(1) },
  { type: 'waiting', wait: { from: null, deadline: 1 }, since: 1 },
  { type: 'errored', failure: { kind: 'network', error: 'gone', retryable: true } },
  { type: 'completed', result: 'r' },
];

/** Seeded random numbers. */
function randomOf(seed: number): (below: number) => number {
  let at = seed;
  return (below) => {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((at / 2 ** 32) * below);
  };
}

/** A few trees that random calls change. */
class Wood {
  readonly roots: string[] = [];
  readonly served = new Set<string>();
  readonly workers: Worker[] = [];
  readonly #random: (below: number) => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random(from.length)] as T;
  }

  async begin(store: Store): Promise<void> {
    for (let n = 0; n < 5; n += 1) await this.#plant(store, n % 2 === 0);
  }

  async #plant(store: Store, served: boolean): Promise<void> {
    const root = newAgent(null, { worker: null, state: this.#pick(STATES.slice(0, 3)) });
    await store.createRoot(root, { ...DEFAULT_LIMITS, live: 50, total: 500 }, { served });
    this.roots.push(root.agent.id);
    if (served) this.served.add(root.agent.id);
  }

  async #enter(store: Store, isDead: boolean): Promise<Worker> {
    const place = isDead ? { host: hostname(), pid: GONE_PID } : { host: 'elsewhere', pid: 1 };
    const worker = { id: `w-${randomUUID()}`, ...place };
    await store.heartbeat(worker);
    if (!isDead) this.workers.push(worker);
    return worker;
  }

  /** Makes one random call. */
  async happen(store: Store): Promise<void> {
    // Renews the leases, so that none expires on a slow machine.
    for (const one of [...this.workers]) await store.heartbeat(one);
    const root_id = this.#pick(this.roots);
    const agents = await store.agents({ root_id });
    const agent = this.#pick(agents);
    const worker = this.#pick(this.workers) ?? (await this.#enter(store, false));
    const deeds: (() => Promise<unknown>)[] = [
      () => this.#step(store, agent),
      () => this.#step(store, agent),
      () => store.send({ ...letter(agent, agent), id: randomUUID(), from_id: null }),
      () => store.claim(root_id, worker),
      () => store.claim(root_id, worker),
      () => store.releaseTree(root_id, worker.id),
      async () => store.claim(root_id, await this.#enter(store, true)),
      () => store.kill(agent.id, 'you', 1),
      () => store.unledTrees(10_000),
      async () => {
        this.workers.splice(this.workers.indexOf(worker), 1);
        await store.release(worker.id);
      },
      async () => {
        this.served.add(root_id);
        await store.serveTree(root_id);
      },
      () => this.#plant(store, this.#random(2) === 0),
    ];
    await this.#pick(deeds)();
  }

  async #step(store: Store, agent: Agent): Promise<void> {
    const pending = await store.mail(agent.id);
    const consume = this.#random(2) === 0 ? pending : [];
    const seq = agent.last_seq + 1;
    await store.commit([
      stepOf(agent, {
        state: this.#pick(this.#random(4) === 0 ? STATES : STATES.slice(0, 4)),
        messages: [said('step')],
        consume: consume.map(({ id }) => ({ mail_id: id, seq })),
        create:
          this.#random(3) === 0
            ? [
                newAgent(agent, {
                  worker: this.#pick([agent.worker, null]),
                  state: this.#pick(STATES.slice(0, 2)),
                }),
              ]
            : [],
        send: this.#random(3) === 0 ? [letter(agent, agent)] : [],
      }),
    ]);
  }

  /** The unled trees according to the rows of agents, mail and workers. */
  async expected(store: Store): Promise<string[]> {
    const alive = new Set(
      (await store.workers()).filter(({ pid }) => pid !== GONE_PID).map((worker) => worker.id),
    );
    const unled: string[] = [];
    for (const root_id of this.served) {
      for (const agent of await store.agents({ root_id })) {
        if (isTerminal(agent.state.type) || alive.has(agent.worker ?? '')) continue;
        if (!isWorking(agent.state.type) && (await store.mail(agent.id)).length === 0) continue;
        unled.push(root_id);
        break;
      }
    }
    return unled.toSorted();
  }

  async found(store: Store): Promise<string[]> {
    const mine = new Set(this.roots);
    return (await store.unledTrees(100_000)).filter((id) => mine.has(id)).toSorted();
  }
}

alwaysOnBothDatabases('unled trees', (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-unled-'));
  let store: Store;
  let other: Store;
  before(async () => {
    const url = (await database()) ?? `sqlite:${join(folder, 'ledger.db')}`;
    store = await openStore(url);
    other = await openStore(url);
  });
  after(async () => {
    await store.close();
    await other.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('match the rows after any sequence of calls', async () => {
    const wood = new Wood(11);
    await wood.begin(store);
    let seen = 0;
    for (let n = 0; n < CALLS; n += 1) {
      await wood.happen(n % 2 === 0 ? store : other);
      const expected = await wood.expected(store);
      assert.deepEqual(await wood.found(other), expected, `after ${n + 1} deeds`);
      seen += expected.length;
    }
    assert.ok(seen > CALLS / 3, 'some were unled');
  });

  it('match the rows after concurrent calls', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const wood = new Wood(100 + round);
      await wood.begin(store);
      await Promise.all(
        Array.from({ length: 6 }, async (_, stream) => {
          for (let n = 0; n < 12; n += 1) await wood.happen(stream % 2 === 0 ? store : other);
        }),
      );
      const expected = await wood.expected(store);
      assert.deepEqual(await wood.found(other), expected, `round ${round}`);
    }
  });
});
