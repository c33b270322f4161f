import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { until } from '../test/until.ts';
import { machineLine } from './machine-line.ts';
import { percentile } from './percentile.ts';
import { makeServerFolder, type ServerProcess } from './server-process.ts';

/**
 * `npm run bench:stream -- [--clients 200] [--stalled 10] [--letters 200] [--rounds 4]`: measures how long a letter takes from the request that writes it
 * to each client of the event stream that follows its tree, alternating without and with clients that read nothing, and the memory of the server.
 */
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '200' },
    stalled: { type: 'string', default: '10' },
    letters: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '4' },
  },
});
const [CLIENTS, STALLED, LETTERS, ROUNDS] = [
  Number(values.clients),
  Number(values.stalled),
  Number(values.letters),
  Number(values.rounds),
];
const EVERY_MS = 40;
/** Letters that exceed what the sockets and the queue of a client hold. */
const FLOOD = { letters: 150, bytes: 100_000 };

const server = await makeServerFolder({
  rules: [
    {
      when: { root: true, user: 'begin' },
      calls: [{ name: 'fork', input: { name: 'kid', prompt: 'read' } }],
    },
    { say: 'read' },
  ],
}).start();
const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };

async function post(path: string, body: object): Promise<{ readonly id: string }> {
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${server.url}${path}`, init);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { readonly id: string };
}

/** A client that follows a tree and records when each numbered letter arrived. */
interface Follower {
  readonly response: IncomingMessage;
  readonly arrived: Map<number, number>;
  readonly resyncs: () => number;
}

function follow(root_id: string): Promise<Follower> {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${server.url}/v1/events?tree=${root_id}`,
      { headers, agent: false },
      (response) => {
        const arrived = new Map<number, number>();
        let [rest, resyncs] = ['', 0];
        response.setEncoding('utf8').on('data', (piece: string) => {
          const now = performance.now();
          const lines = (rest + piece).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            if (line === 'event: resync') resyncs += 1;
            const number = line.startsWith('data: {')
              ? /"type":"mail".*"letter (\d+)/.exec(line)?.[1]
              : undefined;
            if (number !== undefined) arrived.set(Number(number), now);
          }
        });
        response.on('error', () => undefined);
        resolve({ response, arrived, resyncs: () => resyncs });
      },
    );
    asked.on('error', reject).end();
  });
}

function megabytes({ pid }: ServerProcess, name: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1e3;
}

interface Round {
  /** Milliseconds from request to each live client. */
  readonly delays: readonly number[];
  /** Megabytes that letters added to the memory of the server while only stalled clients followed them. */
  readonly flood_mb: number;
}

async function round(stalled_count: number): Promise<Round> {
  const { id: root_id } = await post('/v1/trees', { prompt: 'begin' });
  const stalled: Follower[] = [];
  for (let n = 0; n < stalled_count; n += 1) stalled.push(await follow(root_id));
  for (const { response } of stalled) response.pause();
  let kid = '';
  for (; kid === ''; await sleep(50)) {
    const tree = await (await fetch(`${server.url}/v1/trees/${root_id}`, { headers })).json();
    kid =
      (tree as { agents: { id: string; name: string }[] }).agents.find(({ name }) => name === 'kid')?.id ??
      '';
  }
  const before = megabytes(server, 'VmRSS');
  // Letters are also sent without stalled clients, so that the ledger is the same.
  for (let n = 0; n < FLOOD.letters; n += 1)
    await post(`/v1/agents/${kid}/send`, { text: 'x'.repeat(FLOOD.bytes) });
  const flood_mb = megabytes(server, 'VmRSS') - before;
  const live = await Promise.all(Array.from({ length: CLIENTS - stalled_count }, () => follow(root_id)));
  await until(() => live.every(({ resyncs }) => resyncs() === 1), 'every client has begun');
  await sleep(1_000);
  const delays: number[] = [];
  const sent = new Map<number, number>();
  for (let n = 0; n < LETTERS; n += 1) {
    sent.set(n, performance.now());
    await post(`/v1/agents/${root_id}/send`, { text: `letter ${n} ${'y'.repeat(1_000)}` });
    await sleep(EVERY_MS);
  }
  await until(() => live.every(({ arrived }) => arrived.size === LETTERS), 'every letter at every client');
  for (const { arrived } of live) for (const [n, at] of arrived) delays.push(at - (sent.get(n) as number));
  for (const { resyncs } of live) assert.equal(resyncs(), 1, 'no live client was cut off');
  for (const { response } of stalled) response.resume();
  await until(
    () => stalled.every(({ resyncs }) => resyncs() === 2),
    'the stalled ones hear that they must load anew',
  );
  const last = LETTERS;
  await post(`/v1/agents/${root_id}/send`, { text: `letter ${last}` });
  await until(() => stalled.every(({ arrived }) => arrived.has(last)), 'and go on');
  for (const { response } of [...live, ...stalled]) response.destroy();
  return { delays, flood_mb };
}

console.log(`stream: ${CLIENTS} clients, a letter of 1 KB every ${EVERY_MS} ms; ${machineLine()}`);
try {
  console.log(`  server at rest: ${megabytes(server, 'VmRSS').toFixed(0)} MB`);
  const all = new Map<number, number[]>([
    [0, []],
    [STALLED, []],
  ]);
  for (let n = 0; n < ROUNDS; n += 1)
    for (const [stalled, delays] of all) {
      const { delays: found, flood_mb } = await round(stalled);
      // The first round of each is a warm-up.
      if (n > 0) delays.push(...found);
      const mb = `+${flood_mb.toFixed(0)} MB by ${FLOOD.letters} unread letters, ${megabytes(server, 'VmHWM').toFixed(0)} MB at most so far`;
      console.log(`  round ${n + 1}, ${stalled} stalled: ${told(found)}; server ${mb}`);
    }
  for (const [stalled, delays] of all) console.log(`${stalled} of them stalled: ${told(delays)}`);
} finally {
  server.stop();
}

function told(delays: readonly number[]): string {
  const at = (share: number) => percentile(delays, share).toFixed(1);
  return `delay p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms of ${delays.length}`;
}
