// Proves that deliveries survive a server that is repeatedly killed in the middle of them: each arrives, is marked once, and repeats carry the same id.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { newAgent, newRoot, stepOf } from '../store/ledger-fixture.ts';

const COUNT = 100;
const KILLS = 8;
const SECRET = `whsec_${Buffer.from('a signing key for tests').toString('base64')}`;

describe('a server killed in the middle of a hundred deliveries', { timeout: 600_000 }, () => {
  it('on SQLite', async (t) => {
    const home = makeHome();
    t.diagnostic(await killAndDeliver(home, home.database));
  });

  it('on PostgreSQL', async (t) => {
    const server = await sharedPostgres();
    const home = makeHome();
    t.diagnostic(await killAndDeliver(home, await server.createDatabase()));
    await server.stop();
  });
});

async function killAndDeliver(home: Home, database: string): Promise<string> {
  const receiver = await startReceiver();
  const lines = join(home.folder, 'delivered.jsonl');
  home.configure({
    channels: { webhook: { ops: { url: receiver.url, secretEnv: 'OPS_SECRET' } }, file: { log: lines } },
  });
  const store = await openStore(database);
  const ids = await enterRuns(store);
  const env = { OPS_SECRET: SECRET };
  let kills = 0;
  for (; kills < KILLS; kills += 1) {
    const { child, ended } = home.start(['serve', '--database', database], { env });
    const before = receiver.seen.length;
    // Killed at a random moment after at least one delivery.
    for (let waited = 0; receiver.seen.length === before && waited < 20_000; waited += 10) await sleep(10);
    await sleep(Math.random() * 120);
    child.kill('SIGKILL');
    await ended;
    if ((await store.deliveries({ status: 'pending', limit: 1 })).length === 0) break;
  }
  const left = (await store.deliveries({ status: 'pending' })).length;
  const { child, ended } = home.start(['serve', '--database', database], { env });
  for (let waited = 0; waited < 60_000; waited += 50) {
    if ((await store.deliveries({ status: 'pending', limit: 1 })).length === 0) break;
    await sleep(50);
  }
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.ok(!stderr.includes(SECRET));
  const all = await store.deliveries({});
  assert.equal(all.length, ids.length);
  for (const delivery of all) assert.equal(delivery.status, 'delivered', JSON.stringify(delivery));
  const filed = readFileSync(lines, 'utf8').trimEnd().split('\n');
  const got = { webhook: receiver.seen, file: filed.map((line) => (JSON.parse(line) as { id: string }).id) };
  for (const [channel, place] of [
    ['webhook', 0],
    ['file', 1],
  ] as const) {
    const wanted = ids.filter((id) => id.endsWith(`-${place}`));
    assert.deepEqual([...new Set(got[channel])].toSorted(), wanted.toSorted(), `each arrived by ${channel}`);
  }
  await store.close();
  await receiver.close();
  const repeats = got.webhook.length + got.file.length - all.length;
  return `${kills} kills, ${left} were left after the last; ${all.length} arrived, ${repeats} repeats, each by its id`;
}

/** Enters a hundred deliveries of fifty runs that have ended. */
async function enterRuns(store: Store): Promise<string[]> {
  const root = await newRoot(store, { children: COUNT, live: COUNT + 1, total: COUNT + 1 }, { worker: null });
  const created = Array.from({ length: COUNT / 2 }, (_, n) => {
    const agent = newAgent(root, { origin: 'session', worker: null, name: `run-${n}` });
    const run = {
      id: randomUUID(),
      source: 'subagent' as const,
      session_key: `agent:main:subagent:${agent.agent.id}`,
      requester_id: root.id,
      requester_key: root.session_key,
      task: `task ${n}`,
      label: `run-${n}`,
      model: 'fake/m',
      thinking: 'off' as const,
      timeout_ms: null,
      cleanup: 'keep' as const,
      deliver: ['webhook:ops', 'file:log'],
      job_id: null,
    };
    return { ...agent, run };
  });
  const [made] = await store.commit([stepOf(root, { create: created })]);
  assert.ok(made?.ok, JSON.stringify(made));
  for (const { agent } of created) {
    const now = await store.agent(agent.id);
    assert.ok(now);
    const [ended] = await store.commit([
      stepOf(now, { state: { type: 'completed', result: `result of ${agent.name}` } }),
    ]);
    assert.ok(ended?.ok, JSON.stringify(ended));
  }
  return created.flatMap(({ run }) => [`run-${run.id}-0`, `run-${run.id}-1`]);
}

/** Starts a slow receiver that checks each signature and records the ids. */
async function startReceiver(): Promise<{ url: string; seen: string[]; close: () => Promise<void> }> {
  const seen: string[] = [];
  const hook = new Webhook(SECRET);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const told = hook.verify(body, request.headers as Record<string, string>) as { id: string };
      assert.equal(told.id, request.headers['webhook-id']);
      seen.push(told.id);
      await sleep(15);
      response.end('ok');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
