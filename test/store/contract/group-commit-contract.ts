import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Verdict } from '../../../src/kernel/step.ts';
import type { Store } from '../../../src/store/store.ts';
import { child, fresh, letter, newAgent, newRoot, said, stepOf } from '../ledger-fixture.ts';

const IDLE = { type: 'idle' } as const;

function refusals(verdicts: readonly Verdict[]): string[] {
  return verdicts.map((verdict) => (verdict.ok ? 'accepted' : verdict.refusal.reason));
}

/** Part of the store contract: steps of one commit see each other's changes in order. */
export function groupCommitContract(stores: () => { readonly store: Store }): void {
  it('law 6: two steps of one commit cannot consume one letter twice', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const mail = letter(root, root);
    await store.send({ ...mail, from_id: null });
    const now = await fresh(store, root);
    const reads = (base_seq: number) =>
      stepOf(now, {
        base_seq,
        messages: [said('reads')],
        consume: [{ mail_id: mail.id, seq: base_seq + 1 }],
      });
    const verdicts = await store.commit([reads(now.last_seq), reads(now.last_seq + 1)]);
    assert.deepEqual(refusals(verdicts), ['accepted', 'consumed']);
    assert.equal((await store.history(root.id)).length, 2);
  });

  it('law 7: of two steps of one commit that create agents, one gets the last place', async () => {
    const { store } = stores();
    for (const limits of [{ total: 4 }, { live: 4 }]) {
      const root = await newRoot(store, limits);
      const [a, b] = [await child(store, root), await child(store, root)];
      const verdicts = await store.commit([a, b].map((one) => stepOf(one, { create: [newAgent(one)] })));
      assert.deepEqual(refusals(verdicts), ['accepted', 'limit']);
      assert.equal((await store.tree(root.id))?.total, 4);
    }
  });

  it('law 9: a kill includes agents that an earlier step of its commit created below the target', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const a = await child(store, root);
    const born = newAgent(a);
    const [, verdict] = await store.commit([
      stepOf(a, { create: [born] }),
      stepOf(await fresh(store, root), { messages: [said('kills')], kill: [a.id] }),
    ]);
    assert.deepEqual(verdict?.ok && verdict.killed, [a.id, born.agent.id]);
    assert.equal((await store.agent(born.agent.id))?.state.type, 'killed');
    assert.equal((await store.tree(root.id))?.live, 1);
  });

  it('a kill voids asks of an earlier step of its commit', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const a = await child(store, root);
    const ask = {
      ...{
        id: randomUUID(),
        root_id: root.id,
        agent_id: a.id,
        agent_name: a.name,
        call_id: 'c',
        tool: 'bash',
      },
      ...{
        subject: 's',
        subject_kind: null,
        input: '{}',
        difference: null,
        cwd: '/',
        rule: 'r',
        asked_at: 1,
      },
    };
    const verdicts = await store.commit([
      stepOf(a, { messages: [said('asks')], asks: [ask] }),
      stepOf(await fresh(store, root), { messages: [said('kills')], kill: [a.id] }),
    ]);
    assert.deepEqual(refusals(verdicts), ['accepted', 'accepted']);
    assert.deepEqual(
      (await store.asks({ agent_id: a.id })).map(({ verdict }) => verdict),
      ['void'],
    );
  });

  it('a step that parks learns which agents it waits for have settled already, also in the same commit', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const kids = [await child(store, root), await child(store, root), await child(store, root)] as const;
    const [working, resting, dead] = kids;
    await store.kill(dead.id, 'you', 1);
    const verdicts = await store.commit([
      stepOf(resting, { state: IDLE, messages: [said('rests')] }),
      stepOf(await fresh(store, root), { messages: [said('waits')], waits_for: kids.map(({ id }) => id) }),
    ]);
    const [, parked] = verdicts;
    assert.ok(parked?.ok);
    assert.deepEqual(parked.met, [resting.id, dead.id]);
    assert.deepEqual(await store.waiters(working.id), [root.id]);
    // An agent with unread mail has not settled: it will signal later.
    await store.send(letter(root, resting));
    const again = await child(store, root, { state: IDLE });
    const waits = stepOf(again, { messages: [said('waits')], waits_for: [resting.id] });
    const [told] = await store.commit([waits]);
    assert.deepEqual(told?.ok && told.met, []);
  });

  it('law 8: a step without messages from an older seq changes nothing', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    await store.commit([stepOf(root, { messages: [said('one'), said('two')] })]);
    assert.deepEqual(refusals(await store.commit([stepOf(root, { calls: 1 })])), ['stale']);
    const now = await fresh(store, root);
    assert.deepEqual([now.last_seq, now.calls], [3, 0]);
  });

  it('a step whose creations exist already is stale', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const mail = letter(root, root);
    const sends = stepOf(root, { send: [mail] });
    assert.deepEqual(refusals(await store.commit([sends])), ['accepted']);
    // Another step came in between and replaced the token of the first.
    assert.deepEqual(refusals(await store.commit([stepOf(root, { calls: 1, at: sends.at + 1 })])), [
      'accepted',
    ]);
    const again = await store.commit([sends]).then(refusals, (error: Error) => error.message);
    assert.deepEqual(again, ['stale']);
  });
}
