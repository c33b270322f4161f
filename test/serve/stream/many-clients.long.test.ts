// Proves that clients of the event stream are bounded: a slow one costs a fixed amount, delays nobody, and has everything after a reload; excess clients are
// refused; none outlives the server, and after a restart each is told to reload.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { EventClient } from '../../../src/serve/stream/event-client.ts';
import { EventFeed } from '../../../src/serve/stream/event-feed.ts';
import { EventRing } from '../../../src/serve/stream/event-ring.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { type Follower, followNew } from './event-stage.ts';

let web: WebStage;

afterEach(async () => {
  await web.close();
  assert.deepEqual(web.troubles, []);
});

const seqs = (follower: Follower) => follower.of('message').map(({ message }) => message?.seq ?? 0);

it('of 200 clients ten read nothing: the others get everything meanwhile, and the ten lose nothing', async () => {
  web = await setWebStage(() => 'read');
  const { stage } = web;
  const root = await stage.start('begin');
  await stage.runtime.settled(root.id);
  const watching = await followNew(web, `?tree=${root.id}`);
  const others: Follower[] = [];
  while (others.length < 189) others.push(await followNew(web));
  const stalled: Follower[] = [];
  while (stalled.length < 10) stalled.push(await followNew(web, `?tree=${root.id}`));
  for (const { response } of stalled) response.pause();
  const page = 'x'.repeat(100_000);
  for (let letter = 0; letter < 60; letter += 1) {
    await stage.runtime.send(root.id, `${letter} ${page}`);
    await stage.runtime.settled(root.id);
    const last = (await stage.store.agent(root.id))?.last_seq ?? 0;
    await until(() => seqs(watching).at(-1) === last, 'the reader has it all');
  }
  assert.equal(watching.of('resync').length, 1);
  await until(
    () => others.every((other) => other.of('agent').at(-1)?.agent?.state === 'idle'),
    'the others have what is theirs',
  );
  for (const { response } of stalled) response.resume();
  await until(() => stalled.every((one) => one.of('resync').length > 1), 'each hears that it must load anew');
  await stage.runtime.send(root.id, 'the last letter');
  await stage.runtime.settled(root.id);
  const end = (await stage.store.agent(root.id))?.last_seq ?? 0;
  await until(() => stalled.every((one) => seqs(one).at(-1) === end), 'and goes on');
  for (const one of stalled) {
    // Messages after the resync are complete; the client loads those before it.
    const from = one.events.findLastIndex(({ type }) => type === 'resync');
    const later = one.events
      .slice(from)
      .flatMap(({ message }) => (message === undefined ? [] : [message.seq]));
    assert.deepEqual(
      later,
      [...later.keys()].map((index) => end - later.length + 1 + index),
    );
  }
});

it('a client that reads nothing keeps four megabytes at most, and reads `resync` when it reads again', async () => {
  web = await setWebStage(() => 'unused');
  const ring = new EventRing();
  const client = new EventClient({
    watch: { root_id: null, agent_id: null, brief: false, follows: null },
    resync: () => ring.resync(),
    onGone: () => undefined,
  });
  client.begun = true;
  const text = 'x'.repeat(10_000);
  for (let n = 0; n < 5_000; n += 1)
    client.send(ring.add({ type: 'removed', ids: [text] }, { root_id: null, agent_id: null }));
  const reader = client.body.getReader();
  let read = '';
  while (!read.includes('event: resync')) read += Buffer.from((await reader.read()).value ?? []).toString();
  assert.ok(read.length < 4_200_000, `${read.length} characters were kept`);
  client.send(ring.add({ type: 'removed', ids: ['later'] }, { root_id: null, agent_id: null }));
  assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /later/);
  await reader.cancel();
});

it('refuses the client after the 512th, and takes one again when another has gone', async () => {
  web = await setWebStage(() => 'unused');
  const feed = new EventFeed({ ...web.stage, unled: { options: {}, env: {} } });
  const all = { root_id: null, agent_id: null, brief: false, follows: null };
  const open = await Promise.all(Array.from({ length: 512 }, () => feed.open(all, null)));
  await assert.rejects(feed.open(all, null), { code: 'E_TOO_MANY_REQUESTS' });
  await open[0]?.cancel();
  await feed.open(all, null);
  await feed.close();
});

it('ends when the server stops', async () => {
  web = await setWebStage(() => 'unused');
  const one = await followNew(web);
  await web.close();
  await until(() => one.has_ended, 'the server stopped');
  const before = one.ids.at(-1);
  web = await setWebStage(() => 'unused');
  const again = await followNew(web, '', before);
  assert.equal(again.events[0]?.type, 'resync');
});
