// Proves that the outbox delivers everything that is due, in order and within its limits, retries as documented, and loses nothing to a stop or an unreachable
// ledger.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeliverResult } from '../../src/channels/channel.ts';
import { DELIVERED, hang, LATER, newChannel, outboxStage } from './outbox-stage.ts';
import { newAsk, newRun } from './parcel-fixture.ts';
import { seeded } from './seeded.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('outbox: what it sends', () => {
  it('sends a reply as it stands in the ledger, and marks it', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const chat = newChannel('chat');
    const id = enter('chat:-100:7', { body: 'naïve 漢字 🎋', root_id: 'r', agent_id: 'a' });
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    assert.deepEqual(chat.begun, [
      {
        id,
        kind: 'reply',
        address: '-100:7',
        text: 'naïve 漢字 🎋',
        agent_id: 'a',
        root_id: 'r',
        outcome: null,
        outcome_text: null,
        run: null,
        ask: null,
        created_at: clock.now(),
        attempt: 1,
        progress: null,
      },
    ]);
    assert.deepEqual(ledger.ends, [{ id, end: { status: 'delivered', at: clock.now() } }]);
    await stop(outbox);
  });

  it('composes the text of a run and of a question from their rows, by the whole id', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const chat = newChannel('chat');
    const run = newRun({ id: 'run-1' });
    const ask = newAsk({ id: 'ask-1' });
    ledger.runs.push(newRun({ id: 'run-12', result: 'of another run' }), run);
    ledger.asks.push(newAsk({ id: 'ask-12' }), ask);
    enter('chat:1', { kind: 'run', about: 'run-1', body: null });
    enter('chat:1', { kind: 'ask', about: 'ask-1', body: null });
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    const [ran, asked] = chat.begun;
    assert.equal(ran?.text, '[Cron: nightly] Complete.\n\nall is well');
    assert.deepEqual([ran?.run, ran?.ask], [run, null]);
    assert.match(asked?.text ?? '', /file-reader.*wants.*bash.*rm -rf dist.*approvals allow ask-1/s);
    assert.deepEqual([asked?.run, asked?.ask], [null, ask]);
    await stop(outbox);
  });

  it('marks delivered without sending: a question that was answered, is void or is gone, a reply without text', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const chat = newChannel('chat');
    for (const [id, verdict] of [
      ['allowed', 'allow'],
      ['denied', 'deny'],
      ['voided', 'void'],
    ] as const)
      ledger.asks.push(newAsk({ id, verdict }));
    const ids = ['allowed', 'denied', 'voided', 'gone'].map((about) =>
      enter('chat:1', { kind: 'ask', about, body: null }),
    );
    ids.push(enter('chat:1', { body: ' \n' }));
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    assert.deepEqual(chat.begun, []);
    assert.deepEqual(
      ids.map((id) => ledger.of(id).status),
      ids.map(() => 'delivered'),
    );
    await stop(outbox);
  });

  it('fails a run that is gone, and waits for one that has not ended', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const chat = newChannel('chat');
    ledger.runs.push(newRun({ id: 'run-1', status: 'running', result: null }));
    const gone = enter('chat:1', { kind: 'run', about: 'run-0', body: null });
    const early = enter('chat:2', { kind: 'run', about: 'run-1', body: null });
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    assert.equal(ledger.of(gone).status, 'failed');
    assert.match(ledger.of(gone).error ?? '', /run-0 is not in the ledger/);
    assert.match(ledger.of(early).error ?? '', /has not ended/);
    ledger.runs[0] = newRun({ id: 'run-1' });
    await clock.pass(2 * SECOND);
    assert.deepEqual([ledger.of(early).status, chat.begun.length], ['delivered', 1]);
    await stop(outbox);
  });
});

describe('outbox: when it polls', () => {
  it('at once when it is told, and every second', async () => {
    const { clock, enter, open, stop } = outboxStage();
    const chat = newChannel('chat');
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    enter('chat:1');
    await clock.settle();
    assert.equal(chat.begun.length, 0);
    outbox.wake();
    await clock.settle();
    assert.equal(chat.begun.length, 1);
    for (const expected of [2, 3]) {
      enter('chat:1');
      await clock.pass(SECOND);
      assert.equal(chat.begun.length, expected);
    }
    await stop(outbox);
  });

  it('not before a delivery is due', async () => {
    const { clock, enter, open, stop } = outboxStage();
    const chat = newChannel('chat');
    enter('chat:1', { created_at: clock.now() + 10 * SECOND });
    const outbox = open([chat]);
    outbox.wake();
    await clock.pass(9 * SECOND);
    assert.equal(chat.begun.length, 0);
    await clock.pass(SECOND);
    assert.equal(chat.begun.length, 1);
    await stop(outbox);
  });
});

describe('outbox: concurrency', () => {
  it('4 for one channel, 8 in all', async () => {
    const { clock, enter, open, stop } = outboxStage();
    const channels = ['a', 'b', 'c'].map((name) => newChannel(name, hang));
    for (let n = 0; n < 20; n += 1) for (const { name } of channels) enter(`${name}:${n}`);
    const outbox = open(channels);
    outbox.wake();
    for (let look = 0; look < 5; look += 1) {
      await clock.pass(SECOND);
      assert.deepEqual(
        channels.map(({ under_way }) => under_way),
        [3, 3, 2],
      );
    }
    await stop(outbox);
    const alone = newChannel('a', hang);
    const second = open([alone]);
    second.wake();
    await clock.pass(3 * SECOND);
    assert.equal(alone.under_way, 4);
    await stop(second);
  });

  it('8 in all, however many channels there are', async () => {
    const { clock, enter, open, stop } = outboxStage();
    const channels = Array.from({ length: 10 }, (_, n) => newChannel(`channel-${n}`, hang));
    for (const { name } of channels) for (let n = 0; n < 5; n += 1) enter(`${name}:${n}`);
    const outbox = open(channels);
    outbox.wake();
    await clock.pass(3 * SECOND);
    assert.equal(
      channels.reduce((sum, { under_way }) => sum + under_way, 0),
      8,
    );
    await stop(outbox);
  });

  it('never more than that, however long each takes', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const random = seeded(7);
    let [under_way, most] = [0, 0];
    const channels = ['a', 'b', 'c', 'd'].map((name) =>
      newChannel(name, async () => {
        under_way += 1;
        most = Math.max(most, under_way);
        await new Promise<void>((resolve) => clock.after(Math.ceil(random() * 900), resolve));
        under_way -= 1;
        return DELIVERED;
      }),
    );
    const outbox = open(channels);
    outbox.wake();
    for (let n = 0; n < 400; n += 1) {
      enter(`${'abcd'[Math.floor(random() * random() * 4)]}:${Math.floor(random() * 20)}`);
      if (n % 40 === 0) await clock.pass(SECOND);
    }
    await clock.pass(5 * MINUTE);
    assert.ok([...ledger.deliveries.values()].every(({ status }) => status === 'delivered'));
    assert.deepEqual([Math.max(...channels.map((channel) => channel.most)), most], [4, 8]);
    await stop(outbox);
  });

  for (const [how, behave] of [
    ['hang', hang],
    ['fail', () => LATER],
    [
      'throw',
      () => {
        throw new Error('broken');
      },
    ],
  ] as const) {
    it(`channels that ${how} hold up no other, and the rest of theirs goes on when they work again`, async () => {
      const { clock, ledger, enter, open, stop } = outboxStage();
      const bad = ['a', 'b', 'c'].map((name) => newChannel(name, behave));
      const good = newChannel('good');
      for (let n = 0; n < 30; n += 1) for (const { name } of bad) enter(`${name}:${n % 10}`);
      const outbox = open([...bad, good]);
      outbox.wake();
      await clock.pass(3 * SECOND);
      for (let n = 1; n <= 20; n += 1) {
        enter(`good:${n % 3}`);
        outbox.wake();
        await clock.settle();
        assert.equal(good.begun.length, n, 'it was delivered at once');
      }
      for (const channel of bad) {
        assert.ok(channel.begun.length > 0);
        channel.behave = () => DELIVERED;
      }
      await clock.pass(15 * MINUTE);
      const open_still = [...ledger.deliveries.values()].filter(({ status }) => status === 'pending');
      assert.deepEqual(
        open_still.map(({ id }) => id),
        [],
      );
      await stop(outbox);
    });
  }

  it('a target that hangs holds up no other target of its channel', async () => {
    const { clock, enter, open, stop } = outboxStage();
    const chat = newChannel('chat', (parcel, context) =>
      parcel.address === 'stuck' ? hang(parcel, context) : DELIVERED,
    );
    for (let n = 0; n < 10; n += 1) enter('chat:stuck');
    for (let n = 0; n < 10; n += 1) enter(`chat:${n}`);
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    assert.deepEqual(
      chat.begun.map(({ address }) => address),
      ['stuck', ...Array.from({ length: 10 }, (_, n) => String(n))],
    );
    await stop(outbox);
  });

  it('one target gets its deliveries one after the other, in order of creation', async () => {
    const { clock, enter, open, stop } = outboxStage();
    const chat = newChannel('chat', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return DELIVERED;
    });
    const now = clock.now();
    const order = [7, 3, 9, 1, 5, 2, 8, 4, 6, 0];
    for (const n of order) enter('chat:1', { id: `reply-${n}`, created_at: now - 100 + n });
    const outbox = open([chat]);
    outbox.wake();
    for (let n = 0; n < 10; n += 1) await clock.settle();
    assert.deepEqual(
      chat.begun.map(({ id }) => id),
      [...order].sort().map((n) => `reply-${n}`),
    );
    assert.equal(chat.most, 1);
    await stop(outbox);
  });
});

describe('outbox: retries', () => {
  /** Returns the waits between attempts in ms, as recorded in the ledger. */
  async function waits(result: DeliverResult, random: () => number, tries: number): Promise<number[]> {
    const { clock, ledger, enter, open, stop } = outboxStage();
    enter('chat:1');
    const began: number[] = [];
    const chat = newChannel('chat', () => {
      began.push(clock.now());
      return result;
    });
    const outbox = open([chat], { random });
    outbox.wake();
    for (let seconds = 0; ledger.ends.length < tries && seconds < 5_000; seconds += 1)
      await clock.pass(SECOND);
    await stop(outbox);
    return ledger.ends
      .slice(0, tries)
      .flatMap(({ end }, n) => (end.status === 'pending' ? [end.next_at - (began[n] as number)] : []));
  }

  it('1 s, 2 s, 4 s … at most 5 minutes, with full jitter', async () => {
    const longest = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * SECOND);
    assert.deepEqual(await waits(LATER, () => 1, 11), longest);
    assert.deepEqual(
      await waits(LATER, () => 0.25, 11),
      longest.map((ms) => ms / 4),
    );
    assert.deepEqual(await waits(LATER, () => 0, 3), [0, 0, 0]);
  });

  it('never sooner than the other side asked for', async () => {
    const asked: DeliverResult = { type: 'retry', error: 'busy', after_ms: 7_500 };
    assert.deepEqual(await waits(asked, () => 0.5, 3), [7_500, 7_500, 7_500]);
    const at_once: DeliverResult = { type: 'retry', error: 'busy', after_ms: 0 };
    assert.deepEqual(await waits(at_once, () => 1, 3), [1_000, 2_000, 4_000]);
  });

  it('under the same id, with the number of the attempt, until it is delivered', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const id = enter('chat:1');
    const chat = newChannel('chat', ({ attempt }) => (attempt < 4 ? LATER : DELIVERED));
    const outbox = open([chat]);
    outbox.wake();
    await clock.pass(MINUTE);
    assert.deepEqual(
      chat.begun.map((parcel) => [parcel.id, parcel.attempt]),
      [1, 2, 3, 4].map((attempt) => [id, attempt]),
    );
    assert.deepEqual([ledger.of(id).status, ledger.of(id).error], ['delivered', null]);
    await stop(outbox);
  });

  it('not at all when the channel says that no retry will help', async () => {
    const { clock, ledger, enter, open, warnings, stop } = outboxStage();
    const id = enter('chat:1');
    const chat = newChannel('chat', () => ({ type: 'failed', error: 'no such chat' }));
    const outbox = open([chat]);
    outbox.wake();
    // Longer than the longest wait between two tries.
    await clock.pass(6 * MINUTE);
    assert.equal(chat.begun.length, 1);
    assert.deepEqual([ledger.of(id).status, ledger.of(id).error], ['failed', 'no such chat']);
    assert.deepEqual(warnings(), ['a delivery has failed']);
    await stop(outbox);
  });

  it('gives up after 50 tries', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const id = enter('chat:1');
    const chat = newChannel('chat', () => LATER);
    const outbox = open([chat], { random: () => 0.01 });
    outbox.wake();
    await clock.pass(10 * MINUTE);
    assert.equal(chat.begun.length, 50);
    assert.equal(ledger.of(id).status, 'failed');
    assert.equal(ledger.of(id).error, 'not now (given up after 50 tries)');
    await stop(outbox);
  });

  it('gives up 24 hours after it was made, and not before a try', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const chat = newChannel('chat', () => ({ type: 'retry', error: 'not now', after_ms: 6 * MINUTE }));
    const old = enter('chat:old', { created_at: clock.now() - 25 * HOUR });
    const fresh = enter('chat:fresh', { created_at: clock.now() - 24 * HOUR + 3 * MINUTE });
    const delivered = enter('fine:1', { created_at: clock.now() - 25 * HOUR });
    const outbox = open([chat, newChannel('fine')]);
    outbox.wake();
    await clock.settle();
    assert.equal(ledger.of(old).error, 'not now (given up after 1 try)');
    assert.equal(ledger.of(delivered).status, 'delivered');
    await clock.pass(5 * MINUTE);
    assert.equal(ledger.of(fresh).status, 'pending');
    await clock.pass(2 * MINUTE);
    assert.equal(ledger.of(fresh).status, 'failed');
    await stop(outbox);
  });

  it('a channel that throws is logged and tried again; one that never ends is stopped after 11 minutes', async () => {
    const { clock, ledger, logged, enter, open, stop } = outboxStage();
    const broken = enter('broken:1');
    const stuck = enter('stuck:1');
    const channels = [
      newChannel('broken', ({ attempt }) => {
        if (attempt === 1) throw new Error('secret of the channel');
        return DELIVERED;
      }),
      newChannel('stuck', (parcel, context) => (parcel.attempt === 1 ? hang(parcel, context) : DELIVERED)),
    ];
    const outbox = open(channels);
    outbox.wake();
    await clock.settle();
    assert.equal(ledger.of(broken).error, 'the channel "broken" failed unexpectedly');
    assert.equal(logged.filter(({ level }) => level === 'error').length, 1);
    assert.ok(!JSON.stringify(logged).includes('secret of the channel'));
    await clock.pass(10 * MINUTE);
    assert.deepEqual([ledger.of(broken).status, ledger.of(stuck).attempts], ['delivered', 1]);
    await clock.pass(2 * MINUTE);
    assert.deepEqual([ledger.of(stuck).status, ledger.of(stuck).attempts], ['delivered', 2]);
    await stop(outbox);
  });
});

describe('outbox: channels that are not configured', () => {
  it('leaves what is for them, and says so once', async () => {
    const { clock, ledger, logged, enter, open, stop } = outboxStage();
    const id = enter('gone:1');
    const outbox = open([newChannel('chat')]);
    outbox.wake();
    await clock.pass(5 * MINUTE);
    enter('gone:2');
    enter('lost:1');
    await clock.pass(5 * MINUTE);
    assert.deepEqual([ledger.of(id).status, ledger.of(id).attempts], ['pending', 0]);
    assert.deepEqual(
      logged.filter(({ level }) => level === 'warn').map(({ fields }) => fields),
      [{ channel: 'gone' }, { channel: 'lost' }],
    );
    await stop(outbox);
    const back = newChannel('gone');
    const second = open([back]);
    second.wake();
    await clock.settle();
    assert.deepEqual([back.begun.length, ledger.of(id).status], [2, 'delivered']);
    await stop(second);
  });
});
