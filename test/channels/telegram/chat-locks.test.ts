// Proves that a chat has one holder at a time, in order, that who gives up while it waits leaves its place to the next, and that chats are apart.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ChatLocks } from '../../../src/channels/telegram/chat-locks.ts';

const never = new AbortController().signal;

for (const which of [0, 1, 2])
  it(`of three that wait, number ${which + 1} gives up: the others get the chat in order`, async () => {
    const locks = new ChatLocks();
    const first = await locks.take('a', never);
    const giving_up = new AbortController();
    const got: number[] = [];
    const take = async (place: number) => {
      const release = await locks.take('a', place === which ? giving_up.signal : never);
      if (release === null) return;
      got.push(place);
      release();
    };
    for (const place of [0, 1, 2]) void take(place);
    giving_up.abort();
    assert.equal(locks.tryTake('a'), null);
    const other = locks.tryTake('b');
    assert.notEqual(other, null, 'another chat is free');
    first?.();
    // Releasing again frees nothing that somebody else holds.
    first?.();
    // Nothing but turns of the event loop lies between them; one that never gets the chat would hang here.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      got,
      [0, 1, 2].filter((place) => place !== which),
    );
    assert.notEqual(locks.tryTake('a'), null, 'it is free again');
  });

it('who has given up before gets nothing, and takes nothing', async () => {
  const locks = new ChatLocks();
  assert.equal(await locks.take('a', AbortSignal.abort()), null);
  assert.notEqual(locks.tryTake('a'), null);
});
