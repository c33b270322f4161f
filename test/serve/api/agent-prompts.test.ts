// Proves that a measured conversation is kept, for two requests at once too, and read again after a read that failed, or when it has grown.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PlacedMessage } from '../../../src/records/conversation/message.ts';
import { AgentPrompts } from '../../../src/serve/api/agent-prompts.ts';
import type { Store } from '../../../src/store/store.ts';
import { said } from '../../store/ledger-fixture.ts';

/** A ledger of which as many reads fail; counts them. */
function prompts(failing: number) {
  const reads = { count: 0 };
  const messages = ['a', 'bc'].map((text, at): PlacedMessage => {
    return { agent_id: 'one', seq: at + 1, at: 1, ...said(text) };
  });
  const store: Pick<Store, 'conversations'> = {
    async conversations() {
      reads.count += 1;
      if (reads.count <= failing) throw new Error('it is away');
      return new Map([['one', { messages }]]) as never;
    },
  };
  return { reads, kept: new AgentPrompts(store as Store) };
}

it('two requests at once read once; one for a longer conversation reads again', async () => {
  const { reads, kept } = prompts(0);
  const both = await Promise.all([1, 1].map((last_seq) => kept.of({ id: 'one', last_seq })));
  assert.deepEqual([both.map(({ bytes }) => bytes), reads.count], [[1, 1], 1]);
  const longer = await kept.of({ id: 'one', last_seq: 2 });
  assert.deepEqual([longer.bytes, longer.messages.length, reads.count], [3, 2, 2]);
});

it('a read that failed is made again, each time', async () => {
  const { reads, kept } = prompts(2);
  for (let count = 0; count < 2; count += 1)
    await assert.rejects(kept.of({ id: 'one', last_seq: 1 }), /it is away/);
  assert.equal((await kept.of({ id: 'one', last_seq: 1 })).bytes, 1);
  assert.equal(reads.count, 3);
});
