// Proves that replies of one chat are sent one after the other, however many wait and come meanwhile, and that chats do not wait for each other.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CommandReplies } from '../../../src/channels/telegram/inbound/command-replies.ts';
import type { UpdatePollTools } from '../../../src/channels/telegram/inbound/update-poll.ts';

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Replies whose sending begins in `begun`, and ends when the test says so. */
function replies() {
  const tools = { log: () => undefined, timing: {}, signal: new AbortController().signal };
  const sender = new CommandReplies(tools as unknown as UpdatePollTools);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const later = (chat: number, name: string) =>
    sender.later(chat, () => {
      begun.push(name);
      const { promise, resolve } = Promise.withResolvers<{ ok: true; result: null }>();
      ends.set(name, () => resolve({ ok: true, result: null }));
      return promise;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await soon();
  };
  return { sender, begun, later, end };
}

it('one that comes while the second of two is sent waits for it', async () => {
  const { sender, begun, later, end } = replies();
  for (const name of ['a', 'b']) later(1, name);
  await soon();
  await end('a');
  later(1, 'c');
  later(2, 'other');
  await soon();
  assert.deepEqual(begun, ['a', 'b', 'other']);
  let is_settled = false;
  const settled = sender.settled().then(() => {
    is_settled = true;
  });
  for (const name of ['b', 'other']) await end(name);
  assert.deepEqual([begun, is_settled], [['a', 'b', 'other', 'c'], false]);
  await end('c');
  await settled;
});

it('of more than fifty that wait in a chat the others are dropped; once they are sent, there is room again', async () => {
  const { sender, begun, later, end } = replies();
  for (let count = 0; count < 52; count += 1) later(1, `${count}`);
  for (let count = 0; count < 50; count += 1) {
    await soon();
    await end(`${count}`);
  }
  await sender.settled();
  assert.equal(begun.length, 50);
  later(1, 'next');
  await soon();
  assert.equal(begun.at(-1), 'next');
});
