import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newTurn } from '../../../src/records/agent/state.ts';
import type { Store } from '../../../src/store/store.ts';
import { CONFIG, child, fresh, newRoot, stepOf } from '../ledger-fixture.ts';

/** Part of the store contract: requests of all agents, in pages. */
export function usageContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  it('requests of all trees are read in pages, with tree and profile', async () => {
    const { store, other } = stores();
    const before = await store.lastRequest();
    const usage = { input: 100, output: 20, cached: 60, reasoning: 5, cost_usd: 0.25 };
    const request = { model: 'm/漢', usage, started_at: 5, duration_ms: 7 };
    const unpriced = { ...request, usage: { ...usage, cost_usd: null } };
    const one = await newRoot(store, {}, { config: { ...CONFIG, profile: 'reviewer' } });
    const two = await newRoot(store);
    await store.commit([stepOf(one, { requests: [request] })]);
    const kid = await child(store, await fresh(store, two));
    await store.commit([stepOf(await fresh(store, kid), { requests: [unpriced, request] })]);
    const found = await other.usageAfter(before, 10);
    assert.deepEqual(
      found.map(({ place: _, ...rest }) => rest),
      [
        { ...request, agent_id: one.id, root_id: one.id, profile: 'reviewer' },
        { ...unpriced, agent_id: kid.id, root_id: two.id, profile: null },
        { ...request, agent_id: kid.id, root_id: two.id, profile: null },
      ],
    );
    const places = found.map(({ place }) => place);
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.deepEqual(await store.usageAfter(before, 2), found.slice(0, 2));
    assert.deepEqual(await store.usageAfter(places[0] ?? 0, 2), found.slice(1));
    assert.deepEqual(await store.usageAfter(places[2] ?? 0, 2), []);
  });
  it('of past agents of a profile and a model, those count that asked and do not work now, the newest first', async () => {
    const { store, other } = stores();
    const kind = { profile: 'estimated', model: 'm/漢' };
    const config = { ...CONFIG, ...kind };
    const usage = { input: 100, output: 20, cached: 60, reasoning: 5, cost_usd: 0.25 };
    const request = { model: 'm', usage, started_at: 1_000, duration_ms: 500 };
    const idle = { type: 'idle' } as const;
    const asked = await newRoot(store, {}, { config });
    const later = { ...request, started_at: 4_000 };
    await store.commit([stepOf(asked, { requests: [request, later], state: idle })]);
    const unpriced = await newRoot(store, {}, { config, created_at: asked.created_at + 1 });
    const no_price = { ...request, usage: { ...usage, cost_usd: null } };
    await store.commit([stepOf(unpriced, { requests: [no_price], state: idle })]);
    const working = await newRoot(store, {}, { config });
    const state = { type: 'requesting', attempt: 1, turn: newTurn(1) } as const;
    await store.commit([stepOf(working, { requests: [request], state })]);
    await newRoot(store, {}, { config });
    const { profile: _, ...without } = config;
    const others = await newRoot(store, {}, { config: without });
    await store.commit([stepOf(others, { requests: [request], state: idle })]);
    assert.deepEqual(await other.pastAgents(kind), [
      { tokens: 60, usd: null, seconds: 0.5 },
      { tokens: 120, usd: 0.5, seconds: 3.5 },
    ]);
    assert.equal((await other.pastAgents({ ...kind, profile: null })).length, 1);
    assert.deepEqual(await other.pastAgents({ ...kind, model: 'other' }), []);
  });
}
