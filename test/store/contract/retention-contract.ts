import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { AgentState } from '../../../src/records/agent/state.ts';
import type { RetentionTerms } from '../../../src/store/retention-ledger.ts';
import type { Store } from '../../../src/store/store.ts';
import { jobOf } from '../../cron/cron-stage.ts';
import { fresh, letter, newDelivery, said, stepOf } from '../ledger-fixture.ts';
import {
  askOf,
  ENDED,
  EVERY,
  endLongAgo,
  fire,
  OLD,
  oldChild,
  oldTree,
  TERMS,
} from '../retention-fixture.ts';

const IDLE: RetentionTerms = { ...TERMS, idle: true };

/** Part of the store contract: which trees are old, and closing them. */
export function retentionContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  const allOld = async (terms: RetentionTerms): Promise<Set<string>> => {
    const found = new Set<string>();
    let from: string | null = null;
    do {
      const { trees, next } = await stores().other.oldTrees(terms, from);
      for (const { root_id } of trees) found.add(root_id);
      from = next;
    } while (from !== null);
    return found;
  };
  const isOld = async (root: Agent, terms = TERMS): Promise<boolean> => {
    const listed = (await allOld(terms)).has(root.root_id);
    const { store } = stores();
    const closed = await store.closeTrees([root.root_id], terms);
    await store.reopenTrees(closed);
    assert.equal(closed.length === 1, listed, 'what is listed can be closed, and nothing else');
    return listed;
  };

  it('a tree is old when its root has ended, or with `idle` rests, and nothing happened since', async () => {
    const { store } = stores();
    const failed = {
      type: 'errored',
      failure: { kind: 'network', error: 'gone', retryable: true },
    } as const;
    const ended = await oldTree(store, ENDED);
    const [rests, errs] = [await oldTree(store, { type: 'idle' }), await oldTree(store, failed)];
    const works = await oldTree(store, { type: 'requesting', attempt: 1, turn: {} as never });
    const young = await oldTree(store, ENDED, {}, TERMS.before);
    assert.deepEqual(await Promise.all([ended, rests, errs, works, young].map((root) => isOld(root))), [
      true,
      false,
      false,
      false,
      false,
    ]);
    for (const [root, old] of [
      [ended, true],
      [rests, true],
      [errs, true],
      [works, false],
      [young, false],
    ] as const)
      assert.equal(await isOld(root, IDLE), old);
    const { trees } = await stores().other.oldTrees(TERMS, null);
    const found = trees.find(({ root_id }) => root_id === ended.id);
    assert.deepEqual(found, { root_id: ended.id, name: 'agent', status: 'completed', last_at: OLD });
  });

  it('a tree is not old while an agent works, is led, has unread mail, or changed since', async () => {
    const { store } = stores();
    const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1 };
    await store.heartbeat(worker);
    const kids: Agent[] = [];
    for (const state of [{ type: 'idle' }, { type: 'idle' }, { type: 'idle' }, ENDED] as AgentState[]) {
      const root = await oldTree(store, { type: 'idle' });
      kids.push(await oldChild(store, root, state));
      await endLongAgo(store, root);
    }
    const [works, led, read, heard] = kids as [Agent, Agent, Agent, Agent];
    for (const kid of kids) assert.equal(await isOld(kid), true, 'as long as nothing of this is so');
    await store.commit([stepOf(works, { at: OLD, state: { type: 'requesting' } as never })]);
    await store.claim(led.root_id, worker);
    assert.ok((await store.send({ ...letter(read, read), from_id: null, sent_at: OLD })).ok);
    const late = await oldTree(store, { type: 'idle' }, { at: OLD });
    // The newest of its letters counts.
    for (const sent_at of [OLD, 20_000])
      assert.ok((await store.send({ ...letter(late, late), id: randomUUID(), from_id: null, sent_at })).ok);
    const now = await fresh(store, late);
    const mail = await store.mail(late.id);
    await store.commit([
      stepOf(now, {
        at: OLD,
        messages: [said('read')],
        consume: mail.map(({ id }) => ({ mail_id: id, seq: now.last_seq + 1 })),
        state: ENDED,
      }),
    ]);
    for (const kid of [works, led, read, late]) assert.equal(await isOld(kid), false);
    assert.equal(await isOld(heard), true);
    await store.release(worker.id);
    assert.equal(await isOld(led), true);
  });

  it('a tree is not old while a delivery is pending or an enabled job belongs to it', async () => {
    const { store } = stores();
    const channel = randomUUID();
    const nobody = { id: '', root_id: '' };
    const delivery = newDelivery(nobody, { target: `${channel}:x`, created_at: OLD });
    const root = await oldTree(store, { type: 'idle' });
    await store.commit([
      stepOf(root, { at: OLD, state: ENDED, deliver: [{ ...delivery, root_id: root.id }] }),
    ]);
    assert.equal(await isOld(root), false);
    const worker = `w-${randomUUID()}`;
    await store.heartbeat({ id: worker, host: 'elsewhere', pid: 1 });
    await store.claimDeliveries(worker, OLD, 1, [channel]);
    await store.endDelivery(delivery.id, worker, 1, { status: 'delivered', at: OLD });
    assert.equal(await isOld(root), true);
    const job = { ...jobOf(EVERY), id: randomUUID(), name: randomUUID(), root_id: root.id };
    await store.createJob(job, null);
    assert.equal(await isOld(root), false);
    await store.changeJob({ ...job, enabled: false }, 1, null, OLD);
    assert.equal(await isOld(root), true);
    await store.removeJob(job.id);
    await store.release(worker);
  });

  it('nobody leads, writes to or changes a closed tree until it is reopened', async () => {
    const { store, other } = stores();
    const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1 };
    await store.heartbeat(worker);
    const root = await oldTree(store, { type: 'idle' });
    const ask = askOf(root);
    await store.commit([stepOf(root, { at: OLD, messages: [said('asks')], asks: [ask] })]);
    const before = await fresh(store, root);
    assert.deepEqual(await store.closeTrees([root.id, randomUUID()], IDLE), [root.id]);
    assert.deepEqual(await other.closeTrees([root.id], IDLE), []);
    assert.ok((await other.closedTrees(10_000)).includes(root.id));
    assert.equal((await allOld(IDLE)).has(root.id), false);
    const attempt = async () => ({
      claim: (await other.claim(root.id, worker)).length,
      send: (await other.send({ ...letter(before, before), from_id: null })).ok,
      step: (await other.commit([stepOf(before, { messages: [said('late')] })]))[0]?.ok,
      answer: (await other.answer(ask.id, { verdict: 'allow', scope: 'once', note: '', by: 'you', at: 1 }))
        .ok,
      event: await fire(store, before),
    });
    assert.deepEqual(await attempt(), {
      claim: 0,
      send: false,
      step: false,
      answer: false,
      event: 'skipped',
    });
    assert.equal((await store.unledTrees(10_000)).includes(root.id), false);
    await store.reopenTrees([root.id]);
    assert.equal((await other.claim(root.id, worker)).length, 1);
    await store.releaseTree(root.id, worker.id);
    assert.equal((await other.send({ ...letter(before, before), from_id: null })).ok, true);
    await store.release(worker.id);
  });

  it('of closing, claiming and writing to a tree at once, exactly one succeeds', async () => {
    const { store, other } = stores();
    const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1 };
    await store.heartbeat(worker);
    for (let round = 0; round < 40; round += 1) {
      const root = await oldTree(store, { type: 'idle' });
      const [closed, met] = await Promise.all([
        store.closeTrees([root.id], IDLE),
        round % 2 === 0
          ? other.claim(root.id, worker).then((agents) => agents.length > 0)
          : other.send({ ...letter(root, root), from_id: null }).then(({ ok }) => ok),
      ]);
      assert.notEqual(closed.length === 1, met, `round ${round}`);
    }
    await store.release(worker.id);
  });
}
