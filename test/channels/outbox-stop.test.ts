// Proves that a stop, a lost claim, an unreachable ledger and a dead worker leave no delivery behind and mark none twice.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELIVERED, hang, LATER, newChannel, outboxStage } from './outbox-stage.ts';
import { newRun } from './parcel-fixture.ts';
import { seeded } from './seeded.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe('outbox: stop', () => {
  it('claims nothing more, and lets work under way end within the grace time', async () => {
    const { clock, ledger, enter, open } = outboxStage();
    const chat = newChannel(
      'chat',
      () => new Promise((resolve) => clock.after(4 * SECOND, () => resolve(DELIVERED))),
    );
    const first = enter('chat:1');
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    const stopped = outbox.stop();
    const later = enter('chat:2');
    outbox.wake();
    await clock.pass(4 * SECOND);
    await stopped;
    assert.equal(ledger.of(first).status, 'delivered');
    assert.deepEqual([ledger.of(later).status, ledger.of(later).attempts], ['pending', 0]);
    assert.equal(clock.waiting, 0, 'no timer is left');
    assert.equal(outbox.stop(), stopped);
  });

  it('aborts work under way after the grace time, and releases everything as due now', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const chat = newChannel('chat', hang);
    const ids = Array.from({ length: 6 }, (_, n) => enter(`chat:${n % 2}`));
    const outbox = open([chat], { random: () => 1 });
    outbox.wake();
    await clock.settle();
    assert.deepEqual([chat.under_way, ledger.claims.size], [2, 6]);
    const stopped = outbox.stop();
    await clock.pass(4 * SECOND);
    assert.deepEqual([chat.under_way, ledger.claims.size], [2, 2], 'what had not begun went back at once');
    await clock.pass(SECOND);
    await stopped;
    assert.deepEqual([chat.under_way, ledger.claims.size], [0, 0]);
    for (const id of ids) {
      assert.equal(ledger.of(id).status, 'pending');
      assert.ok(ledger.of(id).next_at <= clock.now(), 'it is due');
    }
    const heir = newChannel('chat');
    const second = open([heir], { worker_id: 'w2' });
    second.wake();
    await clock.settle();
    assert.deepEqual(new Set(heir.begun.map(({ id }) => id)), new Set(ids));
    await stop(second);
  });

  it('records what was delivered after the abort, and counts no try as the last one', async () => {
    const { clock, ledger, enter, open } = outboxStage();
    const ids = [enter('chat:1'), enter('chat:2', { created_at: clock.now() - 25 * 60 * MINUTE })];
    const chat = newChannel(
      'chat',
      ({ address }, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(address === '1' ? DELIVERED : LATER));
        }),
    );
    const outbox = open([chat], { grace_ms: 100 });
    outbox.wake();
    await clock.settle();
    const stopped = outbox.stop();
    await clock.pass(100);
    await stopped;
    assert.deepEqual(
      ids.map((id) => ledger.of(id).status),
      ['delivered', 'pending'],
    );
  });

  it('does not wait for a channel that does not stop, nor for a ledger that is away', async () => {
    const { clock, ledger, enter, open, warnings, stop } = outboxStage();
    const deaf = enter('deaf:1');
    const away = enter('chat:1');
    const outbox = open([newChannel('deaf', () => new Promise(() => undefined)), newChannel('chat')]);
    ledger.fault = (method) => {
      if (method === 'endDelivery' && ledger.of(away).attempts > 0) throw new Error('away');
    };
    outbox.wake();
    await clock.settle();
    let done = false;
    const stopped = outbox.stop().then(() => {
      done = true;
    });
    await clock.pass(7 * SECOND);
    assert.equal(done, false);
    await clock.pass(2 * SECOND);
    await stopped;
    assert.equal(done, true);
    assert.deepEqual([...ledger.claims.keys()].sort(), [deaf, away].sort());
    assert.equal(clock.waiting, 0, 'no timer is left');
    assert.ok(warnings().includes('the outcome of a delivery was not recorded; it will be retried'));
    // The claims of a dead worker are void.
    ledger.fault = () => undefined;
    ledger.dead.add('w1');
    const second = open([newChannel('deaf'), newChannel('chat')], { worker_id: 'w2' });
    second.wake();
    await clock.settle();
    assert.deepEqual([ledger.of(deaf).status, ledger.of(away).status], ['delivered', 'delivered']);
    await stop(second);
  });
});

describe('outbox: claims', () => {
  it('two outboxes deliver each delivery once', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const [one, two] = [newChannel('chat'), newChannel('chat')];
    const ids = Array.from({ length: 100 }, (_, n) => enter(`chat:${n % 7}`));
    const outboxes = [open([one], { worker_id: 'w1' }), open([two], { worker_id: 'w2' })];
    for (const outbox of outboxes) outbox.wake();
    for (let n = 0; n < 20; n += 1) await clock.settle();
    assert.deepEqual([...one.begun, ...two.begun].map(({ id }) => id).sort(), [...ids].sort());
    assert.ok(one.begun.length > 0 && two.begun.length > 0);
    assert.equal(ledger.ends.length, 100);
    for (const outbox of outboxes) await stop(outbox);
  });

  it('deliveries of a dead worker are delivered by another, under the same id, and marked once', async () => {
    const { clock, ledger, enter, open, warnings, stop } = outboxStage();
    const id = enter('chat:1');
    let finish = () => {};
    const slow = newChannel(
      'chat',
      () =>
        new Promise((resolve) => {
          finish = () => resolve(DELIVERED);
        }),
    );
    const first = open([slow], { worker_id: 'w1' });
    first.wake();
    await clock.settle();
    ledger.dead.add('w1');
    const heir = newChannel('chat');
    const second = open([heir], { worker_id: 'w2' });
    second.wake();
    await clock.pass(SECOND);
    finish();
    await clock.settle();
    assert.deepEqual([slow.begun[0]?.id, heir.begun[0]?.id], [id, id]);
    assert.equal(ledger.ends.length, 1);
    assert.deepEqual(warnings(), ['the claim of a delivery was lost']);
    await stop(first);
    await stop(second);
  });

  it('without its lease claims nothing and begins nothing, also not what it had claimed; it records what was under way', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    let finish = () => {};
    const chat = newChannel(
      'chat',
      () =>
        new Promise((resolve) => {
          finish = () => resolve(DELIVERED);
        }),
    );
    const ids = Array.from({ length: 3 }, () => enter('chat:1'));
    let holds = true;
    const outbox = open([chat], { holdsLease: () => holds });
    outbox.wake();
    await clock.settle();
    assert.equal(ledger.claims.size, 3, 'two wait for the first to end');
    holds = false;
    finish();
    await clock.pass(10 * SECOND);
    assert.deepEqual(
      chat.begun.map(({ id }) => id),
      [ids[0]],
    );
    assert.equal(ledger.of('reply-1-0').status, 'delivered');
    // Another worker has taken one of them meanwhile.
    ledger.claims.set('reply-2-0', 'another worker');
    holds = true;
    chat.behave = () => DELIVERED;
    await clock.pass(2 * SECOND);
    assert.deepEqual(
      chat.begun.map(({ id }) => id),
      [ids[0], ids[2]],
    );
    await stop(outbox);
  });

  it('claims again what it gave up without its lease, each time that it has lost it, while another try goes on', async () => {
    const { clock, enter, open, stop } = outboxStage();
    let finish = () => {};
    const chat = newChannel('chat', ({ id }) =>
      id === first ? new Promise((resolve) => (finish = () => resolve(DELIVERED))) : DELIVERED,
    );
    const first = enter('chat:1');
    const others = [enter('chat:1'), enter('chat:1')];
    let holds = true;
    const outbox = open([chat], { holdsLease: () => holds });
    outbox.wake();
    await clock.settle();
    for (let time = 0; time < 2; time += 1) {
      holds = false;
      await clock.pass(2 * SECOND);
      holds = true;
      await clock.pass(2 * SECOND);
    }
    finish();
    await clock.pass(2 * SECOND);
    assert.deepEqual(
      chat.begun.map(({ id }) => id),
      [first, ...others],
    );
    await stop(outbox);
  });

  it('keeps the progress of a channel for the next try', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const id = enter('chat:1');
    const chat = newChannel('chat', async ({ attempt }, { saveProgress }) => {
      if (attempt > 1) return DELIVERED;
      await saveProgress('part 1');
      assert.equal(ledger.of(id).progress, 'part 1', 'it is kept before it resolves');
      await saveProgress('part 2');
      return LATER;
    });
    const outbox = open([chat]);
    outbox.wake();
    await clock.pass(2 * SECOND);
    assert.deepEqual(
      chat.begun.map(({ progress }) => progress),
      [null, 'part 2'],
    );
    await stop(outbox);
  });

  it('stops a try whose claim was lost, and writes nothing for it', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    enter('chat:1');
    const seen: string[] = [];
    const chat = newChannel('chat', async (_parcel, { saveProgress, signal }) => {
      ledger.claims.set('reply-1-0', 'another worker');
      await saveProgress('part 1').catch((error: Error) => seen.push(error.message));
      seen.push(signal.aborted ? 'aborted' : 'goes on');
      return LATER;
    });
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    assert.deepEqual(seen, ['the claim was lost', 'aborted']);
    assert.deepEqual(ledger.ends, []);
    await stop(outbox);
  });
});

describe('outbox: a ledger that is away', () => {
  it('is asked again for what is due, with one warning', async () => {
    const { clock, ledger, enter, open, logged, stop } = outboxStage();
    const chat = newChannel('chat');
    enter('chat:1');
    ledger.fault = () => {
      throw new Error('connection refused');
    };
    const outbox = open([chat]);
    outbox.wake();
    await clock.pass(MINUTE);
    assert.equal(chat.begun.length, 0);
    ledger.fault = () => undefined;
    await clock.pass(SECOND);
    assert.equal(chat.begun.length, 1);
    assert.deepEqual(
      logged.filter(({ level }) => level !== 'debug').map(({ level, text }) => [level, text]),
      [
        ['warn', 'the ledger does not answer the outbox'],
        ['info', 'the ledger can be reached again'],
      ],
    );
    await stop(outbox);
  });

  for (const method of ['findRuns', 'noteDelivery', 'endDelivery'] as const) {
    for (const when of ['before', 'after'] as const) {
      it(`${method}, ${when} the work was done: asked again, and nothing is sent twice`, async () => {
        const { clock, ledger, enter, open, stop } = outboxStage();
        ledger.runs.push(newRun({ id: 'run-1' }));
        const id = enter('chat:1', { kind: 'run', about: 'run-1', body: null });
        const chat = newChannel('chat', async (_parcel, { saveProgress }) => {
          await saveProgress('sent');
          return DELIVERED;
        });
        let faults = 0;
        ledger.fault = (asked, at) => {
          if (asked !== method || at !== when || faults === 3) return;
          faults += 1;
          throw new Error('connection lost');
        };
        const outbox = open([chat]);
        outbox.wake();
        await clock.pass(10 * SECOND);
        assert.equal(faults, 3);
        assert.deepEqual([chat.begun.length, ledger.ends.length], [1, 1]);
        assert.deepEqual([ledger.of(id).status, ledger.of(id).attempts], ['delivered', 1]);
        await stop(outbox);
      });
    }
  }

  it('a claim whose answer was lost is made again', async () => {
    const { clock, ledger, enter, open, stop } = outboxStage();
    const chat = newChannel('chat');
    const id = enter('chat:1');
    let faults = 0;
    ledger.fault = (method, when) => {
      if (method !== 'claimDeliveries' || when !== 'after' || faults > 0) return;
      faults += 1;
      throw new Error('connection lost');
    };
    const outbox = open([chat]);
    outbox.wake();
    await clock.settle();
    assert.deepEqual([ledger.claims.get(id), chat.begun.length], ['w1', 0], 'claimed, and nobody knows');
    await clock.pass(SECOND);
    assert.deepEqual([chat.begun.length, ledger.of(id).status], [1, 'delivered']);
    await stop(outbox);
  });
});

describe('outbox: everything at once', () => {
  it('whatever fails, and however often it stops, each delivery ends delivered, and once', async () => {
    const { clock, ledger, enter, open } = outboxStage();
    const random = seeded(20_261_121);
    const sent = new Map<string, number>();
    let [faults, stops] = [0, 0];
    ledger.fault = () => {
      if (random() < 0.9) return;
      faults += 1;
      throw new Error('connection lost');
    };
    const names = ['a', 'b', 'c', 'd'];
    const channels = names.map((name) =>
      newChannel(name, async (parcel, context) => {
        const chance = random();
        if (chance < 0.1) return { type: 'retry', error: 'busy', after_ms: 100 };
        if (chance < 0.15) throw new Error('broken');
        if (chance < 0.25) return hang(parcel, context);
        await context.saveProgress('sent').catch(() => undefined);
        sent.set(parcel.id, (sent.get(parcel.id) ?? 0) + 1);
        return DELIVERED;
      }),
    );
    const ids = new Set<string>();
    const isPending = () => [...ledger.deliveries.values()].some(({ status }) => status === 'pending');
    for (let round = 0; round < 12 || isPending(); round += 1) {
      assert.ok(round < 200, 'it comes to an end');
      if (round < 12)
        for (let n = 0; n < 20; n += 1) ids.add(enter(`${names[n % 4]}:${Math.floor(random() * 6)}`));
      const worker_id = `w${round}`;
      const outbox = open(channels, { worker_id, random });
      outbox.wake();
      await clock.pass(20 * SECOND);
      const stopped = outbox.stop();
      await clock.pass(10 * SECOND);
      await stopped;
      ledger.dead.add(worker_id);
      stops += 1;
    }
    assert.equal(ids.size, 240);
    for (const id of ids) {
      assert.equal(ledger.of(id).status, 'delivered', JSON.stringify(ledger.of(id)));
      assert.ok((sent.get(id) ?? 0) >= 1, id);
    }
    const marks = ledger.ends.filter(({ end }) => end.status === 'delivered').map(({ id }) => id);
    assert.deepEqual(marks.sort(), [...ids].sort());
    assert.ok(faults > 50 && stops >= 12, `the faults must fire: ${faults} faults, ${stops} stops`);
  });
});
