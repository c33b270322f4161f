// Proves against real HTTP servers that the gate takes what a server says of itself: its slots, its headers, and how many requests it refuses.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gate } from '../../../src/models/gate/gate.ts';
import type { Model } from '../../../src/models/model.ts';
import { openModel } from '../../../src/models/providers.ts';
import { until } from '../../until.ts';
import { ask } from '../protocols.ts';

const EVENTS = [{ content: 'hi' }, {}]
  .map((delta, index) =>
    JSON.stringify({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: index === 0 ? null : 'stop' }],
    }),
  )
  .map((data) => `data: ${data}\n\n`)
  .join('');

interface Stage {
  readonly model: Model;
  readonly gates: Map<string, Gate>;
  readonly learnt: string[];
  readonly highest: () => number;
  readonly refused: () => number;
  readonly asked: string[];
  /** Answers nothing until so many are at work: on a busy machine the first would be answered before the last is sent. */
  readonly awaits: (crowd: number) => void;
}

/** A server that answers after 20 ms, at most `at_once` at once, and what it says when it is asked for something else. */
async function stage(
  {
    at_once = Number.POSITIVE_INFINITY,
    headers = {},
  }: { at_once?: number; headers?: Record<string, string> },
  other: (path: string) => object | null = () => null,
  terms: { maxConcurrent?: number } = {},
): Promise<Stage> {
  let [at_work, highest, refused] = [0, 0, 0];
  let crowd = 0;
  const asked: string[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') {
      asked.push(request.url ?? '');
      const said = other(request.url ?? '');
      response.writeHead(said === null ? 404 : 200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(said));
    }
    request.resume();
    if (at_work >= at_once) {
      refused += 1;
      response.writeHead(429, { 'content-type': 'application/json' });
      return response.end('{"error":{"message":"too many"}}');
    }
    at_work += 1;
    highest = Math.max(highest, at_work);
    do await sleep(20);
    while (highest < crowd);
    at_work -= 1;
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    response.end(`${EVENTS}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const gates = new Map<string, Gate>();
  const learnt: string[] = [];
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = await openModel('near/m', {
    ...{ providers: { near: { type: 'openai-compatible', baseURL, ...terms } }, env: {}, gates },
    onLearnt: (_, text) => learnt.push(text),
  });
  const awaits = (many: number) => {
    crowd = many;
  };
  return { model, gates, learnt, asked, awaits, highest: () => highest, refused: () => refused };
}

async function send({ model }: Stage, count: number): Promise<void> {
  const all = await Promise.all(
    Array.from({ length: count }, () => model.stream({ ...ask(), tools: [] }, () => undefined)),
  );
  for (const outcome of all) assert.equal(outcome.type, 'answer', JSON.stringify(outcome));
}

it('a hundred requests are at work at once on a server that says nothing and refuses nothing', async () => {
  const near = await stage({});
  await send(near, 1);
  near.awaits(17);
  await send(near, 200);
  assert.ok(near.highest() > 16, `${near.highest()}`);
});

it('llama.cpp states its slots: never more', async () => {
  const near = await stage({}, (path) => (path === '/props' ? { total_slots: 3 } : null));
  await send(near, 2);
  await until(() => near.model.gate?.load.limit === 3, 'the slots are known');
  await send(near, 30);
  assert.equal(near.highest(), 3);
});

it('Ollama queues: sixteen, and more only as it answers as fast', async () => {
  const near = await stage({}, (path) => (path === '/api/version' ? { version: '0.9.0' } : null));
  await send(near, 2);
  await until(() => near.asked.length === 2, 'both were asked');
  await send(near, 1);
  near.awaits(16);
  await send(near, 60);
  assert.ok(near.highest() >= 16 && near.highest() <= 20, `${near.highest()}`);
});

it('a server that gets one request at a time is asked for nothing else', async () => {
  const near = await stage({}, () => ({ total_slots: 3 }));
  for (let time = 0; time < 3; time += 1) await send(near, 1);
  assert.deepEqual(near.asked, []);
});

it('maxConcurrent wins, and then the server is not asked', async () => {
  const near = await stage({}, () => ({ total_slots: 3 }), { maxConcurrent: 5 });
  await send(near, 40);
  assert.deepEqual([near.highest(), near.asked], [5, []]);
});

it('a server with room for four: all are answered, and few are refused once it is known', async () => {
  const near = await stage({ at_once: 4 });
  await send(near, 60);
  const before = near.refused();
  await send(near, 200);
  assert.equal(near.highest(), 4);
  assert.ok(near.refused() - before <= 20, `${near.refused() - before} refused`);
});

it('the headers of an answer are learnt, and told', async () => {
  const near = await stage({
    headers: {
      'x-ratelimit-limit-requests': '4000',
      'x-ratelimit-remaining-requests': '800',
      'x-ratelimit-reset-requests': '48s',
    },
  });
  await send(near, 1);
  assert.match(near.learnt[0] ?? '', /^16 at once, 80 % of 4,000 requests a minute$/);
});

it('two keys of one provider have a gate each', async () => {
  const gates = new Map<string, Gate>();
  for (const KEY of ['one', 'two', 'one'])
    await openModel('far/m', {
      providers: { far: { type: 'openai-compatible', baseURL: 'https://far.example/v1', apiKeyEnv: 'KEY' } },
      ...{ env: { KEY }, gates },
    });
  assert.equal(gates.size, 2);
  assert.ok(![...gates.keys()].some((name) => /one|two/.test(name)), 'no key is kept in the clear');
});
