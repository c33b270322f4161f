import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { placeText } from '../../../src/records/text/list-place.ts';
import type { Store } from '../../../src/store/store.ts';
import { newDelivery, newRoot } from '../ledger-fixture.ts';

interface Row {
  readonly id: string;
  readonly created_at: number;
}

/** Reads a list page by page. */
export async function paged(
  page: (before: string | undefined) => Promise<readonly Row[]>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const rows = await page(before);
    ids.push(...rows.map(({ id }) => id));
    const last = rows.at(-1);
    if (last === undefined) return ids;
    before = placeText(last);
  }
}

/** Part of the store contract: pages of lists, newest first, also where many rows have the same time. */
export function listPlaceContract(
  stores: () => { readonly store: Store; readonly other: Store },
  execute: (sql: string) => Promise<void>,
): void {
  const TIMES = [5_000, 5_001, 5_001, 5_001, 5_001, 5_001, 5_002, 5_002];
  it('pages of roots and deliveries have each row once, whatever began in the same millisecond', async () => {
    const { store } = stores();
    const config = { ...(await newRoot(store)).config, cwd: `/${randomUUID()}` };
    const roots: string[] = [];
    for (const created_at of TIMES) roots.unshift((await newRoot(store, {}, { created_at, config })).id);
    const { cwd } = config;
    for (const limit of [1, 2, 3, 8])
      assert.deepEqual(await paged((before) => store.agents({ roots: true, cwd, before, limit })), roots);
    const { script, seed } = { script: 'export const meta = …', seed: randomUUID() };
    const workflow = { name: 'w', description: 'd', script, seed, started_at: 0, calls: 9 };
    const asks = { ...workflow, ask: { question: 'Which?' } };
    const runs: string[] = [];
    for (const created_at of TIMES) {
      const root = await newRoot(store, {}, { created_at, config: { ...config, workflow } });
      runs.unshift(root.id);
      await newRoot(store, {}, { created_at, config: { ...config, workflow: asks } });
    }
    for (const limit of [1, 3, 8])
      assert.deepEqual(await paged((before) => store.agents({ workflows: true, cwd, before, limit })), runs);
    const about = randomUUID();
    const deliveries: string[] = [];
    for (const created_at of TIMES) {
      const delivery = newDelivery({ id: roots[0] ?? '', root_id: roots[0] ?? '' }, { about, created_at });
      await store.enterDelivery(delivery);
      deliveries.unshift(delivery.id);
    }
    for (const limit of [1, 2, 3, 8])
      assert.deepEqual(await paged((before) => store.deliveries({ about, before, limit })), deliveries);
    const at = async (before: string) =>
      (await store.deliveries({ about, before })).map(({ id }) => deliveries.indexOf(id));
    assert.deepEqual(await at('1970-01-01T00:00:05.001Z'), [7]);
    // Gone since: its millisecond comes again, nothing is left out.
    await execute(`DELETE FROM deliveries WHERE id = '${deliveries[4]}'`);
    assert.deepEqual(await at(`1970-01-01T00:00:05.001Z,${deliveries[4]}`), [2, 3, 5, 6, 7]);
    assert.deepEqual(await at("1970-01-01T00:00:05.001Z,' OR 1=1 --"), [2, 3, 5, 6, 7]);
  });
}
