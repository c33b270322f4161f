import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import type { AskAnswer, NewAsk } from '../../../src/records/conversation/ask.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  child,
  fresh,
  letter,
  newAgent,
  newAsk,
  newDelivery,
  newRoot,
  said,
  stepOf,
} from '../ledger-fixture.ts';

/** Part of the store contract: retries after a lost acknowledgement are idempotent. */
export function idempotenceContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  it('a retried step without messages is stale, and nothing of it exists twice', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const kid = await child(store, root);
    const before = await fresh(store, root);
    const usage = { input: 100, output: 20, cached: 0, reasoning: 0, cost_usd: 0.5 };
    const born = newAgent(before);
    const ask: NewAsk = newAsk({
      root_id: root.id,
      agent_id: root.id,
      agent_name: root.name,
      asked_at: 7_000,
    });
    const delivery = newDelivery(root);
    const step = stepOf(before, {
      send: [letter(root, kid)],
      create: [born],
      asks: [ask],
      deliver: [delivery],
      requests: [{ model: 'm', usage, started_at: 5, duration_ms: 7 }],
      calls: 3,
    });
    const [first] = await store.commit([step]);
    assert.ok(first?.ok, JSON.stringify(first));
    for (const again of [store, other]) {
      const [second] = await again.commit([step]);
      assert.ok(second?.ok === false && second.refusal.reason === 'stale');
    }
    const agent = await fresh(other, root);
    assert.deepEqual([agent.calls, agent.usage.input, agent.last_seq], [3, 100, before.last_seq]);
    assert.deepEqual([(await store.tree(root.id))?.total, (await store.tree(root.id))?.tokens], [3, 120]);
    assert.equal((await store.mail(kid.id)).length, 1);
    assert.equal((await store.asks({ agent_id: root.id })).length, 1);
    const [next] = await store.commit([stepOf(agent, { at: step.at + 1, calls: 1 })]);
    assert.ok(next?.ok, 'another step without messages is no repetition');
    assert.equal((await fresh(store, root)).calls, 4);
    const asked = stepOf(agent, { at: step.at + 2, asks: [{ ...ask, id: randomUUID() }] });
    const later = stepOf(agent, { at: step.at + 3, calls: 1 });
    assert.deepEqual(
      (await store.commit([asked, later, asked])).map(({ ok }) => ok),
      [true, true, false],
    );
    const [once_more] = await store.commit([asked]);
    assert.ok(once_more?.ok === false && once_more.refusal.reason === 'stale', 'what it asked is there');
  });

  it('a retried step that only counts usage is counted once', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const usage = { input: 100, output: 20, cached: 0, reasoning: 0, cost_usd: 0.5 };
    const step = stepOf(root, { calls: 3, requests: [{ model: 'm', usage, started_at: 5, duration_ms: 7 }] });
    assert.ok((await store.commit([step]))[0]?.ok);
    for (const again of [store, other]) {
      const [second] = await again.commit([step]);
      assert.ok(second?.ok === false && second.refusal.reason === 'stale');
    }
    const agent = await fresh(other, root);
    assert.deepEqual([agent.calls, agent.usage.input], [3, 100]);
    assert.equal((await store.tree(root.id))?.tokens, 120);
    assert.equal((await store.requests(root.id)).length, 1);
  });

  it('of steps retried together, only those that had been applied are stale', async () => {
    const { store } = stores();
    const [a, b, c] = [await newRoot(store), await newRoot(store), await newRoot(store)];
    const steps = [
      stepOf(a, { messages: [said('a')] }),
      stepOf(b, { send: [letter(b, b)] }),
      stepOf(c, { calls: 1 }),
    ];
    assert.ok((await store.commit(steps.slice(0, 2))).every((one) => one.ok));
    assert.deepEqual(
      (await store.commit(steps)).map((one) => one.ok),
      [false, false, true],
    );
    assert.equal((await store.mail(b.id)).length, 1);
  });

  it('creating a root is idempotent: it exists once, as it is now', async () => {
    const { store, other } = stores();
    const root = newAgent(null);
    const first = await store.createRoot(root, DEFAULT_LIMITS);
    await child(store, (await store.agent(root.agent.id)) as never);
    const again = await other.createRoot(root, DEFAULT_LIMITS);
    assert.deepEqual([first.total, again.total], [1, 2]);
    assert.equal((await store.history(root.agent.id)).length, 1);
  });

  it('the same answer again is a retry; any other comes too late', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const id = randomUUID();
    const ask: NewAsk = newAsk({ id, root_id: root.id, agent_id: root.id, agent_name: 'agent' });
    await store.commit([stepOf(root, { asks: [ask] })]);
    const answer: AskAnswer = { verdict: 'allow', scope: 'once', note: '', by: 'you', at: 5_000 };
    const first = await store.answer(id, answer);
    assert.ok(first.ok);
    assert.deepEqual(await other.answer(id, answer), first);
    for (const over of [{ by: 'me' }, { at: 5_001 }, { verdict: 'deny' }, { note: 'n' }] as const)
      assert.deepEqual(await other.answer(id, { ...answer, ...over }), { ok: false });
    assert.equal((await store.mail(root.id)).length, 1);
  });
}
