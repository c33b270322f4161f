import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { newAgent, said, stepOf } from '../ledger-fixture.ts';

const GONE_PID = 2 ** 22 - 3;

/** Part of the store contract: trees that need a leader. */
export function unledContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  it('a dead worker is removed for good: its agents rest or need a leader, and it is fenced out', async () => {
    const { store, other } = stores();
    const dead = { id: `w-${randomUUID()}`, host: hostname(), pid: GONE_PID };
    assert.equal(await store.heartbeat(dead), true);
    const [rests, works, own] = [
      newAgent(null, { state: { type: 'idle' }, worker: dead.id }),
      newAgent(null, { worker: dead.id }),
      newAgent(null, { worker: dead.id }),
    ];
    for (const [root, served] of [
      [rests, true],
      [works, true],
      [own, false],
    ] as const)
      await store.createRoot(root, DEFAULT_LIMITS, { served });
    const before = (await store.agent(own.agent.id)) as Agent;
    const unled = await other.unledTrees(10_000);
    assert.deepEqual(
      [rests, works, own].map(({ agent }) => unled.includes(agent.id)),
      [false, true, false],
    );
    for (const { agent } of [rests, works, own]) {
      const now = await store.agent(agent.id);
      assert.deepEqual([now?.worker, now?.epoch], [null, 2]);
    }
    assert.equal(
      (await store.workers()).some(({ id }) => id === dead.id),
      false,
    );
    const [late] = await store.commit([stepOf(before, { messages: [said('late')] })]);
    assert.ok(late?.ok === false && late.refusal.reason === 'stale');
    assert.equal(await store.heartbeat(dead), false, 'it hears of it when it wakes up');
    await store.serveTree(own.agent.id);
    assert.ok((await other.unledTrees(10_000)).includes(own.agent.id));
    await store.release(dead.id);
  });

  it('lists no more trees than the limit', async () => {
    const { store, other } = stores();
    for (let n = 0; n < 4; n += 1)
      await store.createRoot(newAgent(null, { worker: null }), DEFAULT_LIMITS, { served: true });
    assert.equal((await other.unledTrees(3)).length, 3);
  });
}
