import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openStore } from '../src/store/open-store.ts';
import { type BenchDatabase, openPostgres, openSqlite } from './ledger/bench-database.ts';
import { AGENTS_PER_TREE, enterParkedTrees } from './ledger/parked-trees.ts';
import { sendLetters } from './ledger/send-letters.ts';
import { wakeUp } from './ledger/wake-up.ts';
import { WorkerProcess } from './ledger/worker-process.ts';

/**
 * `npm run bench:ledger -- [--agents 100000] [--wake-ups 1000] [--letters 20000] [--database sqlite|postgres]`: measures what parked agents cost, how fast
 * many of them are woken, and how many letters per second a ledger takes, on disk and with fsync.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '100000' },
    'wake-ups': { type: 'string', default: '1000' },
    letters: { type: 'string', default: '20000' },
    database: { type: 'string' },
  },
});
const [agents, wake_ups, letters] = [
  Number(values.agents),
  Number(values['wake-ups']),
  Number(values.letters),
];
const IDLE_MS = 10_000;
/** Time for a worker to finish its work at start. */
const SETTLE_MS = 5_000;
const MAIL_RECIPIENTS = 400;
const SYNCS = 500;
/** Processes, and letters under way in each. */
const SENDERS = [
  { senders: 1, concurrency: 1 },
  { senders: 1, concurrency: 64 },
  { senders: 4, concurrency: 16 },
] as const;

async function measure(database: BenchDatabase): Promise<void> {
  console.log(`\n${database.name}`);
  const filling = await openStore(database.url);
  const began = performance.now();
  const children = await enterParkedTrees(filling, agents, database.concurrency);
  const seconds = (performance.now() - began) / 1_000;
  const entered = children.length * AGENTS_PER_TREE;
  await filling.close();
  const bytes = await database.bytes();
  console.log(
    `  entered         ${entered} parked agents in ${children.length} trees in ${seconds.toFixed(0)} s, ${(bytes / 1e6).toFixed(0)} MB, ${(bytes / entered / 1e3).toFixed(1)} KB each`,
  );
  const worker = await WorkerProcess.start(database.url);
  await sleep(SETTLE_MS);
  await tellIdle(database, worker);
  const store = await openStore(database.url);
  const woken = children.slice(0, wake_ups);
  const before = await worker.used();
  const { all_ms, sent_ms, p50_ms, p95_ms } = await wakeUp(store, woken, worker, database.concurrency);
  const after = await worker.used();
  console.log(
    `  ${woken.length} wake-ups   all read, answered and at rest ${(all_ms / 1_000).toFixed(1)} s after the first letter (letters sent in ${(sent_ms / 1_000).toFixed(1)} s); each p50 ${p50_ms} ms, p95 ${p95_ms} ms; CPU of the worker ${((after.cpu_ms - before.cpu_ms) / 1_000).toFixed(1)} s, memory ${after.memory_mb.toFixed(0)} MB`,
  );
  await worker.stop();
  // With nobody to lead the recipients, the letters stay in their mailboxes.
  const recipients = children.slice(-MAIL_RECIPIENTS);
  for (const terms of SENDERS) {
    const rate = await sendLetters(database.url, recipients, { ...terms, letters });
    console.log(
      `  durable letters ${rate.toFixed(0)} a second: ${terms.senders} process${terms.senders === 1 ? '' : 'es'}, ${terms.concurrency} under way in each; ${letters} letters, each acknowledged`,
    );
  }
  await store.close();
}

/** Prints what an idle worker costs. */
async function tellIdle(database: BenchDatabase, worker: WorkerProcess): Promise<void> {
  const touched_before = await database.touched();
  const before = await worker.used();
  await sleep(IDLE_MS);
  const after = await worker.used();
  const touched_after = await database.touched();
  const per_second = (n: number) => ((n * 1_000) / IDLE_MS).toFixed(1);
  const queries =
    touched_before === null || touched_after === null
      ? `${per_second(after.statements - before.statements)} statements a second`
      : `${per_second(touched_after.transactions - touched_before.transactions)} transactions and ${per_second(touched_after.rows - touched_before.rows)} rows a second`;
  console.log(
    `  an idle worker  ${(after.cpu_ms - before.cpu_ms).toFixed(0)} ms CPU in ${IDLE_MS / 1_000} s, ${queries}, memory ${after.memory_mb.toFixed(0)} MB`,
  );
}

/** Measures how many small synced writes per second the disk takes; every durable commit is at least one. */
function syncsPerSecond(): number {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
  const file = openSync(join(folder, 'syncs'), 'w');
  const block = Buffer.alloc(4_096);
  const began = performance.now();
  for (let n = 0; n < SYNCS; n += 1) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  const seconds = (performance.now() - began) / 1_000;
  closeSync(file);
  rmSync(folder, { recursive: true });
  return SYNCS / seconds;
}

console.log(
  `ledger: ${agents} parked agents, ${wake_ups} wake-ups, ${letters} letters; ${availableParallelism()} × ${cpus()[0]?.model}, ${(totalmem() / 1e9).toFixed(0)} GB, Node ${process.version}; load ${loadavg()[0]?.toFixed(1)}, the disk syncs ${syncsPerSecond().toFixed(0)} writes a second`,
);
for (const [name, open] of [
  ['sqlite', openSqlite],
  ['postgres', openPostgres],
] as const) {
  if (values.database !== undefined && values.database !== name) continue;
  const database = await open();
  try {
    await measure(database);
  } finally {
    await database.close();
  }
}
