// Proves that the bounds of the event stream are of what waits now: a client that reads goes on for ever, each overflow is told once, and each is followed by news.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RuntimeEvent } from '../../../src/runtime/runtime-event.ts';
import { EventClient } from '../../../src/serve/stream/event-client.ts';
import { LiveText } from '../../../src/serve/stream/event-feed.ts';
import { EventRing } from '../../../src/serve/stream/event-ring.ts';

const SCOPE = { root_id: null, agent_id: null };
const KILOBYTES_100 = 'x'.repeat(100_000);

function opened() {
  const ring = new EventRing();
  const watch = { root_id: null, agent_id: null, brief: false, follows: null };
  const client = new EventClient({ watch, resync: () => ring.resync(), onGone: () => undefined });
  client.begun = true;
  const reader = client.body.getReader();
  let text = '';
  return {
    send: (count: number, said = KILOBYTES_100) => {
      for (let n = 0; n < count; n += 1) client.send(ring.add({ type: 'removed', ids: [said] }, SCOPE));
    },
    /** Reads up to an event that contains this text; returns the types of all events read. */
    readTo: async (end: string): Promise<Record<string, number>> => {
      text = '';
      while (!text.includes(end)) text += Buffer.from((await reader.read()).value ?? []).toString();
      const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type = '']) => type);
      return Object.fromEntries(
        Object.entries(Object.groupBy(types, (one) => one)).map(([type, all]) => [type, all?.length ?? 0]),
      );
    },
    close: () => reader.cancel(),
  };
}

it('a client that reads what it is sent loses nothing, however much that is in all', async () => {
  const { send, readTo, close } = opened();
  for (let round = 0; round < 4; round += 1) {
    send(30);
    send(1, `end ${round}`);
    assert.deepEqual(await readTo(`end ${round}`), { removed: 31 });
  }
  await close();
});

it('each overflow is told once, and what comes after it is sent, as much as before', async () => {
  const { send, readTo, close } = opened();
  for (let round = 0; round < 3; round += 1) {
    send(60);
    await readTo('event: resync');
    send(30);
    send(1, `end ${round}`);
    assert.deepEqual(await readTo(`end ${round}`), { removed: 31 });
  }
  await close();
});

it('the ring keeps the newest events up to its bytes, however many there were, also after it forgot all', () => {
  const ring = new EventRing();
  const add = (count: number) => {
    for (let n = 0; n < count; n += 1) ring.add({ type: 'removed', ids: [KILOBYTES_100] }, SCOPE);
  };
  for (let round = 0; round < 2; round += 1) {
    add(300);
    assert.equal(ring.after(ring.n - 70)?.length, 70);
    assert.equal(ring.after(ring.n - 90), null, 'those are gone');
    ring.forget();
    assert.equal(ring.after(ring.n - 1), null);
    const { n } = ring;
    add(70);
    assert.equal(ring.after(n)?.length, 70);
  }
});

it('pieces of text are joined only within one agent, one kind and one call', () => {
  const live = new LiveText();
  const delta = (agent_id: string, type: 'text' | 'reasoning', text: string) =>
    live.add({ type: 'delta', agent_id, delta: { type, text } } as Extract<RuntimeEvent, { type: 'delta' }>);
  const output = (call_id: string, text: string) =>
    live.add({ type: 'output', agent_id: 'a', call_id, text } as Extract<RuntimeEvent, { type: 'output' }>);
  for (let round = 0; round < 2; round += 1) {
    delta('a', 'text', '1');
    delta('a', 'text', '2');
    delta('b', 'text', '3');
    delta('a', 'text', '4');
    delta('a', 'reasoning', '5');
    output('one', '6');
    output('one', '7');
    output('two', '8');
    const taken = live
      .take()
      .map((event) => ('text' in event ? event.text : 'text' in event.delta ? event.delta.text : ''));
    assert.deepEqual(taken, ['12', '3', '4', '5', '67', '8']);
    assert.deepEqual(live.take(), []);
  }
});

it('after the ring forgot all, also a client that had read the newest event has missed something', () => {
  const ring = new EventRing();
  const { n } = ring.add({ type: 'removed', ids: ['a'] }, SCOPE);
  assert.deepEqual(ring.after(n), []);
  ring.forget();
  assert.equal(ring.after(n), null);
  assert.deepEqual(ring.after(ring.n), [], 'one that connects now has not');
});

it('a read that waits ends with its client, and so does that of one who reads later', async () => {
  for (const waits of [true, false]) {
    let gone = 0;
    const watch = { root_id: null, agent_id: null, brief: false, follows: null };
    const resync = () => new EventRing().resync();
    const client = new EventClient({ watch, resync, onGone: () => (gone += 1) });
    const reader = client.body.getReader();
    const { value } = await reader.read();
    assert.match(Buffer.from(value ?? []).toString(), /^retry/);
    const next = waits ? reader.read() : null;
    // The stream asks for more in a later turn.
    await new Promise((soon) => setImmediate(soon));
    client.end();
    client.end();
    assert.deepEqual([(await (next ?? reader.read())).done, gone], [true, 1]);
  }
});
