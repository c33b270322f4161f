import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import type { NewDelivery } from '../../../src/records/run/delivery.ts';
import type { NewRun } from '../../../src/records/run/run.ts';
import type { Store } from '../../../src/store/store.ts';
import { fresh, letter, newAgent, newDelivery, newRoot, said, stepOf } from '../ledger-fixture.ts';
import { askOf, runOf } from '../retention-fixture.ts';

function deliveryOf(agent: Agent, over: Partial<NewDelivery> = {}): NewDelivery {
  return newDelivery(agent, {
    id: `reply-${randomUUID()}`,
    target: `${randomUUID()}:naïve:漢字`,
    body: 'text 🎋 %_ $1\n"quoted" \\',
    ...over,
  });
}

/** Part of the store contract: deliveries, seats and notes of channels. */
export function outboxContract(
  stores: () => {
    readonly store: Store;
    readonly other: Store;
    readonly execute: (sql: string) => Promise<void>;
  },
): void {
  const living = async (): Promise<string> => {
    const id = `w-${randomUUID()}`;
    await stores().store.heartbeat({ id, host: 'elsewhere', pid: 1 });
    return id;
  };
  const enter = async (...deliveries: readonly NewDelivery[]): Promise<void> => {
    const { store } = stores();
    const root = await newRoot(store);
    const [verdict] = await store.commit([stepOf(root, { deliver: deliveries })]);
    assert.ok(verdict?.ok, JSON.stringify(verdict));
  };
  const one = async (
    over: Partial<NewDelivery> = {},
  ): Promise<{ delivery: NewDelivery; channel: string }> => {
    const root = await newRoot(stores().store);
    const delivery = deliveryOf(root, over);
    await enter(delivery);
    return { delivery, channel: delivery.target.split(':')[0] as string };
  };
  const stored = async (id: string) => {
    const [delivery] = await stores().other.findDeliveries(id);
    assert.ok(delivery, `the delivery ${id} is there`);
    return delivery;
  };

  it('enters a delivery without a step, due at once, and each id once', async () => {
    const { store, other } = stores();
    const delivery = deliveryOf(await newRoot(store), { kind: 'alert' });
    assert.equal(await store.enterDelivery(delivery), true);
    assert.equal(await other.enterDelivery({ ...delivery, body: 'something else' }), false);
    const { status, attempts, next_at, ...rest } = await stored(delivery.id);
    assert.deepEqual([status, attempts, next_at], ['pending', 0, delivery.created_at]);
    assert.deepEqual(rest, {
      ...delivery,
      outcome: null,
      outcome_text: null,
      error: null,
      progress: null,
      ended_at: null,
    });
  });

  it('enters a delivery with its step, unchanged, and each id once', async () => {
    const { delivery } = await one({ outcome: 'done', outcome_text: 'done, 1 of 2 failed' });
    await enter(delivery, { ...delivery, body: 'another' });
    assert.deepEqual(await stored(delivery.id), {
      ...delivery,
      status: 'pending',
      attempts: 0,
      next_at: 1_000,
      error: null,
      progress: null,
      ended_at: null,
    });
    const { store } = stores();
    const root = await newRoot(store);
    const lost = deliveryOf(root);
    await store.commit([stepOf(root, { epoch: 0, deliver: [lost] })]);
    assert.deepEqual(await store.findDeliveries(lost.id), []);
  });

  it('finds a delivery by id, prefix and subject; no character is a wildcard', async () => {
    const { store } = stores();
    const [head, about] = [randomUUID().slice(0, 8), randomUUID()];
    const [first, second] = [`${head}-1`, `${head}-12`];
    await one({ id: first, about, created_at: 1_000 });
    await one({ id: second, created_at: 2_000 });
    const ids = async (text: string) => (await store.findDeliveries(text)).map(({ id }) => id);
    assert.deepEqual(await ids(head), [second, first]);
    assert.deepEqual(await ids(head.toUpperCase().slice(0, 4)), [second, first]);
    assert.deepEqual([await ids(first), await ids(second), await ids(about)], [[first], [second], [first]]);
    for (const text of [head.slice(0, 3), '', '%', '____', about.slice(0, 8)])
      assert.deepEqual(await ids(text), []);
  });

  it('one of many workers claims a delivery, when it is due, for the channels asked for', async () => {
    const { store, other } = stores();
    const { delivery, channel } = await one();
    const workers = await Promise.all(Array.from({ length: 8 }, living));
    const [first = ''] = workers;
    assert.deepEqual(await store.claimDeliveries(first, 999, 10, [channel]), []);
    assert.deepEqual(await store.claimDeliveries(first, 1_000, 10, ['other']), []);
    assert.ok((await other.pendingChannels()).includes(channel));
    const claims = await Promise.all(
      workers.map((worker, n) => (n % 2 === 0 ? store : other).claimDeliveries(worker, 1_000, 10, [channel])),
    );
    const won = claims.flat();
    assert.deepEqual(
      won.map(({ id, attempts }) => [id, attempts]),
      [[delivery.id, 1]],
    );
  });

  it('a claim whose acknowledgement was lost is repeated; a delivery that the worker holds is not', async () => {
    const { store } = stores();
    const { delivery, channel } = await one();
    const worker = await living();
    await store.claimDeliveries(worker, 1_000, 1, [channel]);
    assert.deepEqual(await store.claimDeliveries(worker, 9_000, 1, [channel], [delivery.id]), []);
    assert.deepEqual(await store.claimDeliveries(worker, 1_999, 1, [channel], []), [], 'not without a pause');
    const [again] = await store.claimDeliveries(worker, 2_000, 1, [channel], []);
    assert.equal(again?.attempts, 2);
    assert.equal(await store.endDelivery(delivery.id, worker, 1, { status: 'delivered', at: 1 }), false);
    assert.equal(await store.endDelivery(delivery.id, worker, 2, { status: 'delivered', at: 2 }), true);
    assert.ok(!(await store.pendingChannels()).includes(channel));
  });

  it('claims the oldest first, up to the limit', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const target = `${randomUUID()}:x`;
    const all = Array.from({ length: 5 }, (_, n) => deliveryOf(root, { target, created_at: 1_000 + n }));
    await enter(...all.toReversed());
    const worker = await living();
    const channels = [target.split(':')[0] as string];
    const first = await store.claimDeliveries(worker, 9_000, 3, channels);
    const held = first.map(({ id }) => id);
    const rest = await store.claimDeliveries(worker, 9_000, 3, channels, held);
    assert.deepEqual(
      [...first, ...rest].map(({ id }) => id),
      all.map(({ id }) => id),
    );
  });

  it('only the newest try ends, once: delivered, failed, or to be retried', async () => {
    const { store } = stores();
    const { delivery, channel } = await one();
    const worker = await living();
    const claim = async (at: number) => (await store.claimDeliveries(worker, at, 1, [channel]))[0];
    await claim(1_000);
    assert.equal(await store.noteDelivery(delivery.id, worker, 1, '{"sent":1}'), true);
    assert.equal(await store.noteDelivery(delivery.id, 'somebody else', 1, 'x'), false);
    const later = { status: 'pending', error: 'busy', next_at: 5_000 } as const;
    assert.equal(await store.endDelivery(delivery.id, worker, 2, later), false);
    assert.equal(await store.endDelivery(delivery.id, worker, 1, later), true);
    assert.equal(await store.endDelivery(delivery.id, worker, 1, later), false);
    assert.equal(await claim(4_999), undefined);
    const again = await claim(5_000);
    assert.deepEqual([again?.attempts, again?.error, again?.progress], [2, 'busy', '{"sent":1}']);
    assert.equal(await store.endDelivery(delivery.id, worker, 2, { status: 'delivered', at: 6_000 }), true);
    assert.equal(await store.noteDelivery(delivery.id, worker, 2, 'late'), false);
    const { status, ended_at, error } = await stored(delivery.id);
    assert.deepEqual([status, ended_at, error], ['delivered', 6_000, null]);
    assert.equal(await claim(9_000), undefined);
  });

  it('a claim ends with its worker; late writes of a dead worker change nothing', async () => {
    const { store } = stores();
    const { delivery, channel } = await one();
    const [dead, next] = [await living(), await living()];
    await store.claimDeliveries(dead, 1_000, 1, [channel]);
    assert.deepEqual(await store.claimDeliveries(next, 1_000, 1, [channel]), []);
    await store.release(dead);
    assert.equal((await store.claimDeliveries(next, 2_000, 1, [channel])).length, 1);
    assert.equal(await store.endDelivery(delivery.id, dead, 1, { status: 'delivered', at: 1 }), false);
    assert.equal(await store.endDelivery(delivery.id, next, 2, { status: 'delivered', at: 2 }), true);
  });

  it('others take the deliveries and the seat of a silent server once its lease has run out', async () => {
    const { store, other, execute } = stores();
    const { channel } = await one();
    const [silent, next] = [await living(), await living()];
    await store.claimDeliveries(silent, 1_000, 1, [channel]);
    await store.takeSeat(channel, silent);
    const take = async (worker: string) => [
      (await other.claimDeliveries(worker, 2_000, 1, [channel])).length,
      await other.takeSeat(channel, worker),
    ];
    assert.deepEqual(await take(next), [0, false]);
    await execute(`UPDATE workers SET expires_at = 1 WHERE id = '${silent}'`);
    assert.deepEqual(await take(silent), [0, false], 'nor does it keep them itself');
    assert.deepEqual(await take(next), [1, true]);
  });

  it('a worker without its lease claims nothing and takes no seat until it has it again', async () => {
    const { store, execute } = stores();
    const { delivery, channel } = await one();
    const worker = await living();
    await execute(`UPDATE workers SET expires_at = 1 WHERE id = '${worker}'`);
    assert.deepEqual(await store.claimDeliveries(worker, 9_000, 1, [channel]), []);
    assert.equal(await store.takeSeat(channel, worker), false);
    await store.heartbeat({ id: worker, host: 'elsewhere', pid: 1 });
    assert.equal(await store.takeSeat(channel, worker), true);
    const [claimed] = await store.claimDeliveries(worker, 9_000, 1, [channel]);
    assert.equal(claimed?.attempts, 1);
    await execute(`UPDATE workers SET expires_at = 1 WHERE id = '${worker}'`);
    assert.deepEqual(await store.claimDeliveries(worker, 99_000, 1, [channel], [delivery.id]), []);
  });

  it('failed deliveries are retried on request; those under way or delivered are left alone', async () => {
    const { store } = stores();
    const { delivery, channel } = await one();
    const worker = await living();
    await store.claimDeliveries(worker, 1_000, 1, [channel]);
    assert.equal(await store.retryDeliveries([delivery.id], 7_000), 0);
    await store.endDelivery(delivery.id, worker, 1, { status: 'failed', error: 'gone', at: 2_000 });
    assert.ok((await store.deliveries({ status: 'failed' })).some(({ id }) => id === delivery.id));
    assert.ok((await store.retryDeliveries(null, 7_000)) >= 1);
    const { status, next_at, ended_at } = await stored(delivery.id);
    assert.deepEqual([status, next_at, ended_at], ['pending', 7_000, null]);
    await store.claimDeliveries(worker, 7_000, 1, [channel]);
    await store.endDelivery(delivery.id, worker, 2, { status: 'delivered', at: 8_000 });
    assert.equal(await store.retryDeliveries([delivery.id], 9_000), 0);
  });

  it('the end of a run enters one delivery for each target, however it ends', async () => {
    const { store, other } = stores();
    const deliver = ['telegram:42', 'file:a:b', 'stdout'];
    for (const kill of [false, true]) {
      const { agent, run } = await background({ deliver });
      if (kill) await store.kill(agent.id, 'you', 5_000);
      else {
        const [verdict] = await store.commit([
          stepOf(agent, { at: 5_000, state: { type: 'completed', result: 'r' } }),
        ]);
        assert.ok(verdict?.ok);
      }
      const found = (await other.deliveries({ about: run.id })).toReversed();
      assert.deepEqual(
        found.map(({ id, kind, target, agent_id, body, next_at }) => [
          id,
          kind,
          target,
          agent_id,
          body,
          next_at,
        ]),
        deliver.map((target, n) => [`run-${run.id}-${n}`, 'run', target, agent.id, null, 5_000]),
      );
      const worker = await living();
      assert.equal((await store.claimDeliveries(worker, 5_000, 10, ['stdout'])).length, 1);
      assert.equal((await store.findRuns(run.id))[0]?.deliver.length, 3);
    }
  });

  it('a conversation is removed once its run is announced and all deliveries have arrived, not before', async () => {
    const { store, other } = stores();
    const channel = randomUUID();
    const targets = [`${channel}:x`, `${channel}:y`];
    const { agent, run, root } = await background({ deliver: targets, cleanup: 'delete' });
    const requester = await fresh(store, root);
    const [ended] = await store.commit([
      stepOf(agent, {
        messages: [said('done')],
        state: { type: 'completed', result: 'r' },
        send: [{ ...letter(agent, requester, '{}'), kind: 'announce' }],
      }),
    ]);
    assert.ok(ended?.ok);
    const worker = await living();
    const [delivery, second] = await store.claimDeliveries(worker, Date.now() + 1_000, 2, [channel]);
    assert.ok(delivery && second);
    assert.ok(!(await store.cleanRuns(1, 100)).includes(agent.id), 'not delivered yet');
    await store.endDelivery(delivery.id, worker, 1, { status: 'delivered', at: 2 });
    await store.endDelivery(second.id, worker, 1, { status: 'failed', error: 'gone', at: 2 });
    const [mail] = await store.mail(root.id);
    assert.ok(mail);
    await store.commit([
      stepOf(await fresh(store, root), {
        messages: [said('heard')],
        consume: [{ mail_id: mail.id, seq: (await fresh(store, root)).last_seq + 1 }],
      }),
    ]);
    assert.ok(!(await store.cleanRuns(1, 100)).includes(agent.id), 'one has failed, and may be retried');
    assert.equal(await store.retryDeliveries([second.id], 2), 1);
    assert.equal((await store.claimDeliveries(worker, Date.now() + 1_000, 1, [channel])).length, 1);
    await store.endDelivery(second.id, worker, 2, { status: 'delivered', at: 2 });
    assert.ok((await store.cleanRuns(1, 100)).includes(agent.id));
    assert.equal(await other.agent(agent.id), null);
    assert.deepEqual(await other.history(agent.id), []);
    assert.equal((await other.findRuns(run.id))[0]?.status, 'completed');
    assert.ok(!(await store.cleanRuns(1, 100)).includes(agent.id));
  });

  it('a run of a schedule is removed with its whole tree, however large; its row in the history stays', async () => {
    const { store, other } = stores();
    const created = newAgent(null, { origin: 'cron' });
    const run: NewRun = { ...runOf(created.agent), source: 'cron', cleanup: 'delete', requester_id: null };
    await store.createRoot({ ...created, run }, DEFAULT_LIMITS, { served: true });
    const root = (await store.agent(created.agent.id)) as Agent;
    const child = newAgent(root, { state: { type: 'idle' } });
    const messages = Array.from({ length: 2_500 }, (_, n) => said(`text ${n}`));
    const asks = [askOf(root)];
    const [begun] = await store.commit([stepOf(root, { messages, create: [child], asks })]);
    assert.ok(begun?.ok);
    const kid = (await store.agent(child.agent.id)) as Agent;
    await store.commit([
      stepOf(await fresh(store, root), { messages: [said('x')], send: [letter(root, kid)] }),
    ]);
    assert.ok(!(await store.cleanRuns(1, 100)).includes(root.id), 'it has not ended');
    const state = { type: 'completed', result: 'r' } as const;
    const [ended] = await store.commit([stepOf(await fresh(store, root), { state })]);
    assert.ok(ended?.ok);
    assert.ok((await store.cleanRuns(1, 100)).includes(root.id));
    assert.equal(await other.tree(root.id), null);
    assert.deepEqual(await other.agents({ root_id: root.id }), []);
    assert.deepEqual(await other.asks({ root_id: root.id }), []);
    assert.deepEqual([await other.history(root.id), await other.mail(kid.id, true)], [[], []]);
    assert.equal((await other.findRuns(run.id))[0]?.status, 'completed');
    assert.ok(!(await store.cleanRuns(1, 100)).includes(root.id));
    assert.ok(!(await other.unledTrees(1_000)).includes(root.id));
  });

  it('an inbound channel has one seat: the next worker takes it when the first leaves or dies', async () => {
    const { store, other } = stores();
    const channel = randomUUID();
    const [first, second] = [await living(), await living()];
    assert.deepEqual(
      (await Promise.all([store.takeSeat(channel, first), other.takeSeat(channel, second)])).toSorted(),
      [false, true],
    );
    const holder = (await store.takeSeat(channel, first)) ? first : second;
    const waiter = holder === first ? second : first;
    assert.equal(await store.takeSeat(channel, holder), true);
    assert.equal(await other.takeSeat(channel, waiter), false);
    await other.leaveSeat(channel, waiter);
    assert.equal(await other.takeSeat(channel, waiter), false);
    await store.release(holder);
    assert.equal(await other.takeSeat(channel, waiter), true);
    await other.leaveSeat(channel, waiter);
    assert.equal(await store.takeSeat(channel, await living()), true);
  });

  it('a channel keeps notes by name', async () => {
    const { store, other } = stores();
    const channel = randomUUID();
    assert.equal(await store.recall(channel, 'offset'), null);
    await store.remember(channel, 'offset', '1 🎋');
    await store.remember(channel, 'offset', '2');
    await store.remember(channel, 'live:1', 'x');
    assert.deepEqual(
      [await other.recall(channel, 'offset'), await other.recall(channel, 'live:1')],
      ['2', 'x'],
    );
    await other.remember(channel, 'offset', null);
    assert.equal(await store.recall(channel, 'offset'), null);
  });

  async function background(over: Partial<NewRun>): Promise<{ agent: Agent; run: NewRun; root: Agent }> {
    const { store } = stores();
    const root = await newRoot(store);
    const id = randomUUID();
    const created = newAgent(root, { id, origin: 'session' });
    const run: NewRun = { ...runOf(root), session_key: created.agent.session_key, ...over };
    const [verdict] = await store.commit([stepOf(root, { create: [{ ...created, run }] })]);
    assert.ok(verdict?.ok);
    return { agent: (await store.agent(id)) as Agent, run, root };
  }
}
