// Proves that usage sums match the ledger: all of history, only the new rows on later reads, rows committed below others, removed rows, and that they are read
// in small pages.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, it } from 'node:test';
import { setImmediate as soon } from 'node:timers/promises';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { UsageRollUp } from '../../../src/trees/usage/usage-roll-up.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { newRoot } from '../../store/ledger-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

afterEach(closeOpened);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The ledger's clock in these tests: what ended some hours ago ended on the same day. */
const NOW = new Date('2026-03-10T12:00:00Z').getTime();

interface Ledger {
  readonly store: Store;
  readonly beside: DatabaseSync;
  readonly root_id: string;
  /** Number of requests that each read returned. */
  readonly reads: number[];
  /** Inserts a request that ended `ago_ms` ago, at `place` or at the next free place. */
  add(ago_ms: number, over?: { readonly place?: number; readonly model?: string }): void;
  /** Returns the report a minute later than the last one. */
  ask(days?: number): ReturnType<UsageRollUp['report']>;
}

async function openLedger(t: { mock: { method: typeof import('node:test').mock.method } }): Promise<Ledger> {
  const file = join(temporaryFolder(), 'ledger.db');
  const store = await openStore(file);
  closeLater(() => store.close());
  const beside = new DatabaseSync(file);
  closeLater(async () => {
    if (beside.isOpen) beside.close();
  });
  const root = await newRoot(store);
  const insert = beside.prepare(`INSERT INTO requests
    (id, agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, started_at, duration_ms)
    VALUES (?, ?, ?, 100, 10, 40, 0, 0.5, ?, 0)`);
  const reads: number[] = [];
  const roll_up = new UsageRollUp({
    now: async () => NOW,
    usageAfter: async (place, limit) => {
      const found = await store.usageAfter(place, limit);
      reads.push(found.length);
      return found;
    },
  });
  let later_ms = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + later_ms);
  return {
    store,
    beside,
    root_id: root.id,
    reads,
    add: (ago_ms, { place, model = 'fake/m' } = {}) =>
      insert.run(place ?? null, root.id, model, NOW - ago_ms),
    ask: (days = 30) => {
      later_ms += 60_000;
      reads.length = 0;
      return roll_up.report(days, 50);
    },
  };
}

it('sums by day, model, profile and tree; days that were not asked for do not count', async (t) => {
  const { add, ask, root_id } = await openLedger(t);
  add(40 * DAY_MS);
  add(5 * DAY_MS);
  add(5 * DAY_MS, { model: 'fake/other' });
  add(0, { model: 'fake/other' });
  const all = await ask(60);
  assert.equal(all.total.requests, 4);
  const report = await ask(30);
  const three = { requests: 3, input: 300, output: 30, cached: 120, reasoning: 0, cost_usd: 1.5 };
  assert.deepEqual({ ...report.total }, three);
  assert.deepEqual(report.by_tree, [[root_id, three]]);
  assert.deepEqual(report.by_agent, [[root_id, three]]);
  assert.deepEqual(report.by_profile, [[null, three]]);
  assert.deepEqual(
    report.by_model.map(([model, { requests }]) => [model, requests]),
    [
      ['fake/other', 2],
      ['fake/m', 1],
    ],
  );
  assert.equal(report.by_day.length, 30);
  assert.deepEqual(
    report.by_day.filter(({ requests }) => requests > 0).map(({ day, requests }) => [day, requests]),
    [
      ['2026-03-05', 2],
      ['2026-03-10', 1],
    ],
  );
});

it('history is read once, in pages, and other work goes on in between', async (t) => {
  const { add, ask, beside, reads } = await openLedger(t);
  beside.exec('BEGIN');
  for (let n = 0; n < 1_000; n += 1) add(HOUR_MS);
  beside.exec('COMMIT');
  let turns = 0;
  let asking = true;
  const count = (async () => {
    for (; asking; await soon()) turns += 1;
  })();
  assert.equal((await ask()).total.requests, 1_000);
  asking = false;
  await count;
  assert.ok(Math.max(...reads) <= 200, String(reads));
  assert.ok(turns >= reads.length, `${turns} turns of the loop in ${reads.length} reads`);
  add(HOUR_MS);
  assert.equal((await ask()).total.requests, 1_001);
  assert.deepEqual(reads, [2]);
  for (let n = 0; n < 250; n += 1) add(0);
  assert.equal((await ask()).total.requests, 1_251);
  assert.deepEqual(reads, [200, 51]);
});

it('what commits below others is found', async (t) => {
  const { add, ask } = await openLedger(t);
  add(HOUR_MS, { place: 5 });
  add(0, { place: 20 });
  assert.equal((await ask()).total.requests, 2);
  add(0, { place: 10 });
  assert.equal((await ask()).total.requests, 3);
  assert.equal((await ask()).total.requests, 3);
});

it('a request from a clock that is wrong does not stop what is read from growing old', async (t) => {
  const { add, ask, reads } = await openLedger(t);
  add(-HOUR_MS);
  add(HOUR_MS);
  await ask();
  await ask();
  assert.deepEqual(reads, [1]);
});

it('history is read again when the newest was removed, since its place may be used again', async (t) => {
  const { add, ask, beside } = await openLedger(t);
  add(HOUR_MS, { place: 1 });
  add(HOUR_MS, { place: 2 });
  add(HOUR_MS, { place: 3 });
  assert.equal((await ask()).total.requests, 3);
  beside.exec('DELETE FROM requests WHERE id > 1');
  add(2 * HOUR_MS, { place: 2 });
  assert.equal((await ask()).total.requests, 2);
});
