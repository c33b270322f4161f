// Proves that each message and each letter of a watched tree is sent once and in order, however notifications from this process and from the ledger overlap.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { WatchedTree } from '../../../src/serve/stream/watched-tree.ts';
import { setStage } from '../../runtime/stage.ts';

it('what the ledger showed first is not told again, and a gap is filled from the ledger', async () => {
  const stage = await setStage(({ user }) => `answer to ${user}`);
  try {
    const { root } = await stage.perform('one');
    const told: (number | string)[] = [];
    const tree = new WatchedTree(0, [], {
      message: (_, { seq }) => told.push(seq),
      mail: ({ body }) => told.push(body),
    });
    const [first, second] = await stage.store.history(root.id);
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(tree.message(root.id, first), false, 'nothing is known of that agent yet');
    tree.learn(root);
    assert.equal(tree.message(root.id, second), false, 'the first one is missing');
    const marks = () => stage.store.marks({ root_id: root.id });
    await tree.catchUp(stage.store, await marks());
    for (const message of [first, second]) assert.equal(tree.message(root.id, message), true);
    const letter = await stage.runtime.send(root.id, 'a letter');
    for (let time = 0; time < 2; time += 1) assert.equal(tree.mail(letter), true, 'told once');
    await stage.runtime.settled(root.id);
    await tree.catchUp(stage.store, await marks());
    await tree.catchUp(stage.store, await marks());
    const other = await stage.elsewhere();
    const sent = await other.send({ ...letter, id: randomUUID(), body: 'from elsewhere' });
    assert.ok(sent.ok);
    let letters = 0;
    const counted = {
      ...stage.store,
      mail: async (...terms: Parameters<typeof stage.store.mail>) => {
        const found = await stage.store.mail(...terms);
        letters += found.length;
        return found;
      },
    };
    await tree.catchUp(counted, await marks());
    assert.deepEqual([letters, told.splice(told.indexOf('from elsewhere'), 1)], [1, ['from elsewhere']]);
    await stage.runtime.settled(root.id);
    await tree.catchUp(stage.store, await marks());
    const last = (await stage.store.agent(root.id))?.last_seq ?? 0;
    assert.deepEqual(told, [1, 2, 'a letter', ...Array.from({ length: last - 2 }, (_, index) => index + 3)]);
  } finally {
    await stage.close();
  }
});
