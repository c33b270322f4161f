import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Store } from '../../../src/store/store.ts';
import { fresh, letter, newRoot, said, stepOf } from '../ledger-fixture.ts';

/** Part of the store contract: a person's letter may hold images, and is either read or withdrawn. */
export function letterContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  const fromPerson = (to: Agent, body: string) => ({
    ...letter(to, to, body),
    id: randomUUID(),
    from_id: null,
  });

  it('a letter keeps its pictures; one without has none', async () => {
    const { store, other } = stores();
    const to = await newRoot(store);
    const images = [{ media_type: 'image/png', base64: 'aGk=' }];
    await store.send({ ...fromPerson(to, 'look'), images });
    await store.send(fromPerson(to, 'nothing to see'));
    const [seen, plain] = await other.mail(to.id);
    assert.deepEqual(seen?.images, images);
    assert.ok(plain !== undefined && !('images' in plain));
  });

  it('a letter that is taken back is never read, and one that is read is not taken back', async () => {
    const { store, other } = stores();
    const to = await newRoot(store);
    const [first, second] = [fromPerson(to, 'first'), fromPerson(to, 'second')];
    for (const one of [first, second]) await store.send(one);
    assert.equal(await other.takeBack(to.id, second.id), true);
    assert.equal(await other.takeBack(to.id, second.id), true, 'a retry after a lost acknowledgement');
    assert.deepEqual(
      (await store.mail(to.id)).map(({ id }) => id),
      [first.id],
    );
    assert.deepEqual(
      (await store.mail(to.id, true)).map(({ consumed_seq }) => consumed_seq),
      [null, 0],
    );
    const consuming = async (mail_id: string) => {
      const now = await fresh(store, to);
      const seq = now.last_seq + 1;
      const [verdict] = await store.commit([
        stepOf(now, { messages: [said('read')], consume: [{ mail_id, seq }] }),
      ]);
      return verdict?.ok === true ? 'read' : verdict?.refusal.reason;
    };
    assert.deepEqual([await consuming(second.id), await consuming(first.id)], ['consumed', 'read']);
    assert.equal(await store.takeBack(to.id, first.id), false);
    const sent = await store.send(second);
    assert.ok(sent.ok && sent.mail.consumed_seq === 0, 'sent again, it stays taken back');
  });

  it('of a reader and a sender who come at once, exactly one gets the letter', async () => {
    const { store, other } = stores();
    for (let round = 0; round < 12; round += 1) {
      const to = await newRoot(store);
      const one = fromPerson(to, 'whose?');
      await store.send(one);
      const now = await fresh(store, to);
      const consume = [{ mail_id: one.id, seq: now.last_seq + 1 }];
      const read = () => store.commit([stepOf(now, { messages: [said('read')], consume })]);
      const [taken, [verdict]] = await (round % 2 === 0
        ? Promise.all([other.takeBack(to.id, one.id), read()])
        : Promise.all([read(), other.takeBack(to.id, one.id)]).then(([a, b]) => [b, a] as const));
      assert.notEqual(taken, verdict?.ok, `round ${round}`);
      const [after] = await store.mail(to.id, true);
      assert.equal(after?.consumed_seq, taken ? 0 : now.last_seq + 1);
    }
  });

  it('nothing else is taken back: letters of agents, letters to agents at rest', async () => {
    const { store } = stores();
    const [working, resting] = [await newRoot(store), await newRoot(store, {}, { state: { type: 'idle' } })];
    const [from_agent, to_rest] = [letter(resting, working), fromPerson(resting, 'x')];
    for (const one of [{ ...from_agent, root_id: working.root_id }, to_rest]) await store.send(one);
    assert.equal(await store.takeBack(working.id, from_agent.id), false);
    assert.equal(await store.takeBack(resting.id, to_rest.id), false);
    assert.equal(await store.takeBack(working.id, randomUUID()), false);
    assert.equal((await store.mail(working.id)).length + (await store.mail(resting.id)).length, 2);
  });
}
