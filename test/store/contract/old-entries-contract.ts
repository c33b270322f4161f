import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { OldEntry, OldKind } from '../../../src/store/retention-ledger.ts';
import type { Store } from '../../../src/store/store.ts';
import { jobOf } from '../../cron/cron-stage.ts';
import { fresh, newDelivery, said, stepOf } from '../ledger-fixture.ts';
import { EVERY, fire, OLD, oldRun, oldTree, TERMS } from '../retention-fixture.ts';

/** Part of the store contract: removal of old deliveries, instants and runs. */
export function oldEntriesContract(
  stores: () => {
    readonly store: Store;
    readonly other: Store;
    readonly execute: (sql: string) => Promise<void>;
  },
): void {
  it('old delivered entries are removed page by page, and nothing else of the outbox', async () => {
    const { store } = stores();
    const channel = randomUUID();
    const root = await oldTree(store, { type: 'idle' });
    const ids = Array.from({ length: 6 }, (_, n) => `${channel}-${n}`);
    const worker = `w-${randomUUID()}`;
    await store.heartbeat({ id: worker, host: 'elsewhere', pid: 1 });
    await store.commit([
      stepOf(root, {
        deliver: ids.map((id) => newDelivery(root, { id, target: `${channel}:x`, created_at: OLD })),
      }),
    ]);
    await store.claimDeliveries(worker, OLD, 10, [channel]);
    for (const [n, id] of ids.entries()) {
      if (n === 5) continue;
      const at = n === 4 ? TERMS.before : OLD + n;
      await store.endDelivery(
        id,
        worker,
        1,
        n === 3 ? { status: 'failed', error: 'e', at } : { status: 'delivered', at },
      );
    }
    const mine = (await pages('delivery', 2)).filter(({ key }) => key.includes(channel));
    assert.deepEqual(
      mine.map(({ entry }) => (entry.type === 'delivery' ? entry.delivery.id : '')),
      ids.slice(0, 3),
    );
    const keys = mine.map(({ key }) => key);
    assert.equal(await store.removeEntries('delivery', keys, TERMS.before), 3);
    assert.equal(await store.removeEntries('delivery', keys, TERMS.before), 0);
    assert.equal((await store.findDeliveries(ids[0] as string)).length, 0);
    assert.equal((await store.findDeliveries(ids[4] as string)).length, 1);
    await store.release(worker);
  });

  it('instants are removed if their job is gone, or beyond its newest thousand; a queued one stays', async () => {
    const { store, execute } = stores();
    const [kept, gone] = [`k-${randomUUID()}`, `g-${randomUUID()}`];
    for (const id of [kept, gone])
      await store.createJob({ ...jobOf(EVERY), id, name: id, overlap: 'skip' }, OLD);
    const root = await oldTree(store, { type: 'idle' });
    for (const instant of [0, 1, 2])
      for (const job_id of [kept, gone]) await fire(store, root, { job_id, instant });
    await execute(`WITH RECURSIVE instants(n) AS (SELECT 3 UNION ALL SELECT n + 1 FROM instants WHERE n < 1002)
      INSERT INTO cron_fires SELECT job_id, n, manual, outcome, missed, run_id, fired_at
        FROM cron_fires, instants WHERE job_id = '${kept}' AND instant = 2`);
    await store.removeJob(gone);
    const found = (await pages('fire', 2)).filter(({ key }) => key.includes(kept) || key.includes(gone));
    const instants = (id: string) =>
      found.flatMap(({ entry }) =>
        entry.type === 'fire' && entry.fire.job_id === id ? entry.fire.instant : [],
      );
    assert.deepEqual(
      [instants(kept), instants(gone)],
      [
        [0, 1, 2],
        [0, 1, 2],
      ],
    );
    const keys = found.map(({ key }) => key);
    assert.equal(await store.removeEntries('fire', keys, TERMS.before), 6);
    assert.equal((await store.fires(kept, 2_000)).length, 1_000);
    assert.deepEqual(await store.fires(gone, 10), []);
    await store.removeJob(kept);
  });

  it('a run is removed when it is old and its conversation is gone', async () => {
    const { store, other } = stores();
    const root = await oldTree(store, { type: 'idle' });
    const [gone, kept] = [await oldRun(store, root), await oldRun(store, root)];
    const runs = [gone.run, kept.run];
    await store.commit([
      stepOf(await fresh(store, root), { messages: [said('x')], remove: [gone.agent.id] }),
    ]);
    const found = (await pages('run', 100)).filter(({ key }) => runs.some(({ id }) => key.includes(id)));
    assert.deepEqual(
      found.map(({ entry }) => (entry.type === 'run' ? entry.run.id : '')),
      [runs[0]?.id],
    );
    assert.equal(
      await store.removeEntries(
        'run',
        found.map(({ key }) => key),
        OLD,
      ),
      0,
      'not before its time',
    );
    assert.equal(
      await store.removeEntries(
        'run',
        found.map(({ key }) => key),
        TERMS.before,
      ),
      1,
    );
    assert.deepEqual(await other.findRuns(runs[0]?.id ?? ''), []);
    assert.equal((await other.findRuns(runs[1]?.id ?? '')).length, 1);
  });

  async function pages(kind: OldKind, limit: number) {
    const { other } = stores();
    const all: OldEntry[] = [];
    for (let from: string | null = null; ; ) {
      const page = await other.oldEntries(kind, TERMS.before, from, limit);
      all.push(...page);
      const last = page.at(-1);
      if (last === undefined) return all;
      from = last.key;
    }
  }
}
