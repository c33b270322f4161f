// Proves that the conversations of a tree are read together for a takeover, in a few statements and in order, and that one that is damaged fails alone.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { promptOf } from '../../../src/records/conversation/prompt.ts';
import { conversationsOf } from '../../../src/runtime/leading/take-over.ts';
import type { Store } from '../../../src/store/store.ts';
import { child, fresh, letter, newRoot, said, stepOf } from '../../store/ledger-fixture.ts';
import { onBothDatabases } from '../both-databases.ts';
import { setStage } from '../stage.ts';

const KIDS = 30;

onBothDatabases('conversations for a takeover', (database) => {
  it('one read for all agents, each with its own part and what it has of its ancestors', async () => {
    const { store } = await setStage(() => 'unused', { database: await database() });
    const root = await newRoot(store, { children: 100 });
    const step = async (id: string, over: Parameters<typeof stepOf>[1]) => {
      const [verdict] = await store.commit([stepOf(await fresh(store, { ...root, id }), over)]);
      assert.ok(verdict?.ok, JSON.stringify(verdict));
    };
    await step(root.id, { messages: Array.from({ length: 20 }, (_, at) => said(`message ${at}`)) });
    const kids = [];
    for (let at = 0; at < KIDS; at += 1) {
      const kid = await child(store, root, { forked_from: { agent_id: root.id, seq: 5 + (at % 3) } });
      await step(kid.id, { messages: [said(`own ${at}`)] });
      await store.send({ ...letter(root, kid, `letter ${at}`), from_id: null });
      kids.push(kid);
    }
    const [cut] = kids;
    assert.ok(cut);
    const nested = await child(store, cut, { forked_from: { agent_id: cut.id, seq: 6 } });
    const checkpoint = { through: 7, number: 1, summary: 'So far.', spoken: [], facts: [] };
    await step(cut.id, {
      messages: [
        { kind: 'event', content: { event: 'checkpoint', text: 'checkpoint 1', data: checkpoint } },
        said('after it'),
      ],
    });
    const agents = await store.agents({ root_id: root.id });
    let reads = 0;
    const counted: Pick<Store, 'conversations'> = {
      conversations: (ids) => {
        reads += 1;
        return store.conversations(ids);
      },
    };
    const seen: string[] = [];
    for await (const [agent, result] of conversationsOf(counted, agents)) {
      seen.push(agent.id);
      assert.ok(result.status === 'fulfilled');
      const { messages, mail } = result.value;
      const whole = await store.history(agent.id);
      assert.deepEqual(
        messages,
        agent.id === cut.id ? whole.filter(({ seq }) => seq > checkpoint.through) : whole,
      );
      assert.deepEqual(promptOf(messages).messages(), promptOf(whole).messages());
      assert.deepEqual(mail, await store.mail(agent.id));
    }
    assert.deepEqual(
      seen,
      agents.map(({ id }) => id),
    );
    assert.equal(reads, 1);
    assert.deepEqual(await store.checkpoint(cut.id), checkpoint);
    for (const { id } of [root, nested])
      assert.equal(await store.checkpoint(id), null, 'not what came after the fork');
    assert.deepEqual([...(await store.conversations(['nobody'])).values()], [{ messages: [], mail: [] }]);
  });
});

it('large conversations are read one by one, and what cannot be read fails alone', async () => {
  const agents = [3_000, 1_000, 1_000, 9_000, 10].map((last_seq, at) => ({
    id: `${at}`,
    last_seq,
  })) as never[];
  const reads: (readonly string[])[] = [];
  const store: Pick<Store, 'conversations'> = {
    conversations: async (ids) => {
      reads.push(ids);
      if (ids.includes('1')) throw new Error('damaged');
      return new Map(ids.map((id) => [id, { messages: [], mail: [] }]));
    },
  };
  const outcomes: string[] = [];
  for await (const [, { status }] of conversationsOf(store, agents)) outcomes.push(status);
  assert.deepEqual(outcomes, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  assert.deepEqual(reads, [['0', '1', '2'], ['0'], ['1'], ['2'], ['3'], ['4']]);
});
