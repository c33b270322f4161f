// Proves that a bot keeps to Telegram's rate limits: per chat, per group, and over all chats.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Pacing } from '../../../src/channels/telegram/bot/pacing.ts';
import { TELEGRAM_TIMING } from '../../../src/channels/telegram/bot/telegram-timing.ts';
import { ChatLocks } from '../../../src/channels/telegram/chat-locks.ts';

const FREE = {
  ...TELEGRAM_TIMING,
  ...{ chat_gap_ms: 0, bot_per_second: 1_000, group_messages: 1_000, group_window_ms: 60_000 },
};
const never = new AbortController().signal;

/** Returns the milliseconds until a turn was taken for every chat in `chats`. */
async function timeOf(pacing: Pacing, chats: readonly number[]): Promise<number> {
  const start = performance.now();
  for (const chat of chats) assert.equal(await pacing.take(chat, never), true);
  return performance.now() - start;
}

describe('the pace of a bot', () => {
  it('leaves a gap between messages of one chat', async () => {
    assert.ok((await timeOf(new Pacing({ ...FREE, chat_gap_ms: 100 }), [1, 1, 1, 1])) >= 299);
  });

  it('does not hold up one chat for another', async () => {
    const pacing = new Pacing({ ...FREE, chat_gap_ms: 600_000 });
    await timeOf(pacing, [1, 2, 3, -4]);
    assert.deepEqual(
      [1, 2, 3, -4, 5].map((chat) => pacing.tryTake(chat)),
      [false, false, false, false, true],
    );
  });

  it('counts the messages of a group within a window', async () => {
    const pacing = new Pacing({ ...FREE, group_messages: 3, group_window_ms: 150 });
    assert.ok((await timeOf(pacing, [-1, -1, -1, -1, -1, -1, -1])) >= 299);
    assert.ok(
      await timeOf(new Pacing({ ...FREE, group_messages: 1 }), [1, 1, 1]),
      'persons have no such window',
    );
  });

  it('counts all messages within a second', async () => {
    const pacing = new Pacing({ ...FREE, bot_per_second: 5 });
    assert.ok((await timeOf(pacing, [1, 2, 3, 4, 5, 6])) >= 999);
  });

  it('leaves half of what a group is allowed for what must arrive', () => {
    const pacing = new Pacing({ ...FREE, group_messages: 4 });
    assert.deepEqual(
      [1, 2, 3].map(() => pacing.tryTake(-1)),
      [true, true, false],
    );
  });

  it('releases callers that do not want to wait', async () => {
    const pacing = new Pacing({ ...FREE, chat_gap_ms: 600_000 });
    const stop = new AbortController();
    await pacing.take(1, stop.signal);
    const waiting = pacing.take(1, stop.signal);
    stop.abort();
    assert.equal(await waiting, false);
    assert.equal(await pacing.take(2, stop.signal), false);
  });
});

describe('the locks of chats', () => {
  it('a release that is called again releases nobody else, and one that waits may leave from the middle', async () => {
    const locks = new ChatLocks();
    const first = await locks.take('1', never);
    const [leaves, stays] = [new AbortController(), new AbortController()];
    const waiting = [locks.take('1', stays.signal), locks.take('1', leaves.signal), locks.take('1', never)];
    leaves.abort();
    assert.equal(await waiting[1], null);
    first?.();
    const second = await waiting[0];
    first?.();
    assert.equal(locks.tryTake('1'), null, 'the second holds it');
    // It has the lock: an abort is late.
    stays.abort();
    second?.();
    const third = await waiting[2];
    for (const again of [first, second]) again?.();
    assert.equal(locks.tryTake('1'), null, 'the third holds it');
    third?.();
    assert.notEqual(locks.tryTake('1'), null);
  });

  it('let one write at a time, first come, first served', async () => {
    const locks = new ChatLocks();
    const order: string[] = [];
    const first = await locks.take('1', never);
    assert.equal(locks.tryTake('1'), null);
    assert.notEqual(locks.tryTake('2'), null);
    const stop = new AbortController();
    const left = locks.take('1', stop.signal);
    const waiting = ['a', 'b'].map(async (name) => {
      const release = await locks.take('1', never);
      order.push(name);
      release?.();
    });
    stop.abort();
    assert.equal(await left, null);
    first?.();
    first?.();
    await Promise.all(waiting);
    assert.deepEqual(order, ['a', 'b']);
    assert.notEqual(locks.tryTake('1'), null);
  });
});
