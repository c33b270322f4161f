/**
 * Proves on a fake clock that the gate finds limits that a server does not announce, or only in its headers: in little more than the best possible time,
 * with few refusals once it has learnt them, nothing given up, and trees in turn.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Gate } from '../../../src/models/gate/gate.ts';
import { FakeTime } from './fake-time.ts';
import { best, MINUTE, play, refusedShare, withinTheBest } from './hidden-play.ts';
import { HiddenServer, sendAll } from './hidden-server.ts';
import { TUNED } from './shapes.ts';
import { play as playShape } from './sweep.ts';

withinTheBest('quick');

// One of each kind of the sweep (sweep.long.test.ts) that is easily taken for another.
for (const name of [
  '5 at once',
  '25 a minute, window, nothing',
  '60 a minute, sliding, nothing',
  '4 a second, bucket, headers',
  '2 % too much to do',
])
  it(`answers that vary, ${name}: within 10 % of the best time`, async () => {
    const shape = TUNED.find((one) => one.name === name);
    assert.ok(shape);
    const { ratio, refused, failed } = await playShape(shape, 'seed 0');
    assert.ok(ratio <= 1.1 && refused <= 0.05 && failed === 0, `${ratio} times the best, ${refused} refused`);
  });

for (const tells of ['headers', 'retry-after'] as const)
  it(`four processes with one key, with ${tells}: the limit is shared, and nothing starves`, async () => {
    const played = await play({ requests: 600, tells }, 6_000, { gates: 4 });
    const ratio = played.took_ms / best.bucket(6_000, 600);
    assert.ok(ratio <= 1.35, `${ratio.toFixed(2)} times the best`);
    assert.ok(refusedShare(played) <= 0.05, `${(100 * refusedShare(played)).toFixed(1)} % refused`);
  });

it('four processes with one key, and a limit that is soon there again: none crawls while the headers say that much is left', async () => {
  for (const seed of ['a', 'b', 'c', 'd', 'e']) {
    const { ratio, failed } = await playShape(
      {
        ...{ name: 'four', gates: 4, count: 1_000 },
        limits: { requests: 100, period_ms: 2_000, tells: 'headers' },
        answers: { first_token_ms: 180, answer_ms: 20, spread: 0.3 },
      },
      seed,
    );
    assert.ok(ratio <= 1.2 && failed === 0, `${seed}: ${ratio.toFixed(2)} times the best`);
  }
});

it('a limit that falls to a half, and one that doubles, in the middle', async () => {
  const falls = await play({ requests: 600 }, 4_500, { change: { at: 4 * MINUTE, to: { requests: 300 } } });
  // 3,000 in the first four minutes, the bucket included.
  assert.ok(falls.took_ms <= 1.1 * 9 * MINUTE, `${falls.took_ms}`);
  const doubles = await play({ requests: 300 }, 4_500, { change: { at: 4 * MINUTE, to: { requests: 600 } } });
  assert.ok(doubles.took_ms <= 1.15 * 9 * MINUTE, `${doubles.took_ms}`);
});

it('without a limit all that are ready are sent, up to the cap, and in a moment', async () => {
  const { server } = await play({}, 1_000);
  assert.equal(server.highest, 1_000);
  assert.ok((server.accepted.at(-1)?.at ?? 0) <= 300, `the last after ${server.accepted.at(-1)?.at} ms`);
});

it('a process that is late to every timer opens, too', async () => {
  const time = new FakeTime();
  const server = new HiddenServer(time, {});
  const late = (ms: number, signal: AbortSignal) => time.sleep(ms + 30, signal);
  const gate = new Gate({ now: () => time.now, random: () => 0.5, sleep: late });
  await time.run(sendAll([gate], server.model, 300));
  assert.equal(server.highest, 300);
});

it('the cap is never exceeded, whatever a server takes', async () => {
  const time = new FakeTime();
  const server = new HiddenServer(time, {});
  const gate = new Gate({ start: 7, most: 7, now: () => time.now, random: () => 0.5, sleep: time.sleep });
  await time.run(sendAll([gate], server.model, 100));
  assert.equal(server.highest, 7);
});

it('a server that queues gets fewer as its first tokens come later, and loses no time by it', async () => {
  const time = new FakeTime();
  const server = new HiddenServer(time, { slots: 4 });
  const gate = new Gate({
    ...{ start: 16, opens: false, queue_ms: 1_000 },
    ...{ now: () => time.now, random: () => 0.5, sleep: time.sleep },
  });
  await time.run(sendAll([gate], server.model, 400));
  assert.ok(time.now <= 1.1 * best.at_once(400, 4), `${time.now}`);
  assert.ok(gate.load.limit < 12, gate.learnt);
});

it('trees in turn: a small one does not wait for a large one behind a limit', async () => {
  const time = new FakeTime();
  const server = new HiddenServer(time, { requests: 60 });
  const gate = new Gate({ now: () => time.now, random: () => 0.5, sleep: time.sleep });
  const all = sendAll([gate], server.model, 400, (index) => (index < 390 ? 'large' : 'small'));
  await time.run(all);
  const last = server.accepted.findLast(({ tree }) => tree === 'small')?.at ?? Number.POSITIVE_INFINITY;
  assert.ok(last < 30_000, `the last of ten after ${last} ms`);
});

it('a server that says how many it takes at once gets so many', async () => {
  const time = new FakeTime();
  const server = new HiddenServer(time, { slots: 2 });
  const gate = new Gate({
    ...{ start: 16, slots: async () => 2 },
    ...{ now: () => time.now, random: () => 0.5, sleep: time.sleep },
  });
  await time.run(sendAll([gate], server.model, 2));
  await time.run(sendAll([gate], server.model, 20));
  assert.equal(server.highest, 2);
  assert.equal(gate.learnt, '2 at once');
});

it('what is learnt is said: the headers of an answer, in words', async () => {
  const { gates } = await play({ requests: 4_000, tells: 'headers' }, 3_201);
  assert.match(gates[0]?.learnt ?? '', /^[\d,]+ at once, \d+ % of 4,000 requests a minute$/);
});
