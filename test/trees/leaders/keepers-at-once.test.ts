// Proves that workers that look for trees at the same moment rarely claim the same ones: each starts at a different place in the list, and drops the list when
// another worker was faster.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { TreeKeeper } from '../../../src/trees/leaders/tree-keeper.ts';
import { closeOpened } from '../../close-opened.ts';
import { type Stage, setStage } from '../../runtime/stage.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

afterEach(closeOpened);

const NONE = { allow: [], ask: [], deny: [] };

interface Watched {
  readonly stage: Stage;
  readonly keeper: TreeKeeper;
  /** Every claim: its tree, and whether the tree was free. */
  readonly claims: { readonly root_id: string; readonly was_free: boolean }[];
}

/** Creates a worker on this database; `looked` is called when it has listed the unled trees, and the worker continues when the promise resolves. */
async function worker(database: string, looked: () => Promise<void>): Promise<Watched> {
  const claims: Watched['claims'] = [];
  const wrap = (store: Store): Store => ({
    ...store,
    unledTrees: async (...args) => {
      const found = await store.unledTrees(...args);
      await looked();
      return found;
    },
    claim: async (root_id, ...rest) => {
      const claimed = await store.claim(root_id, ...rest);
      claims.push({ root_id, was_free: claimed.length > 0 });
      return claimed;
    },
  });
  const stage = await setStage(() => Promise.withResolvers<string>().promise, { database, wrap });
  const keeper = new TreeKeeper({
    store: stage.store,
    runtime: stage.runtime,
    onEnded: () => undefined,
    onTrouble: (error) => {
      throw error;
    },
  });
  return { stage, keeper, claims };
}

async function enter({ stage }: Watched, trees: number): Promise<string[]> {
  const config = { model: 'play/actor', thinking: 'off', system: '', toolsets: [], tools: [] } as const;
  const ids: string[] = [];
  for (let n = 0; n < trees; n += 1)
    ids.push(
      await stage.runtime.enter(
        {
          prompt: `${n}`,
          config: { ...config, cwd: process.cwd(), permissions: { cli: NONE, config: NONE } },
        },
        [],
      ),
    );
  return ids;
}

it('one that is outrun drops its list and looks again', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
  const [looked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = await worker(database, () => {
    looked.resolve();
    return go.promise;
  });
  const ids = await enter(slow, 40);
  slow.keeper.wake();
  await looked.promise;
  const faster = { id: 'faster', host: 'elsewhere', pid: 1 };
  const ledger = await slow.stage.elsewhere();
  await ledger.heartbeat(faster);
  for (const id of ids) await ledger.claim(id, faster);
  const [late] = await enter(slow, 1);
  go.resolve();
  await until(
    async () => (await ledger.agent(late ?? ''))?.worker === slow.stage.runtime.worker_id,
    'the next look finds one that is free',
  );
  await slow.keeper.stop();
  const in_vain = slow.claims.filter(({ was_free }) => !was_free).length;
  // At most one for each tree that it takes over at the same time.
  assert.ok(in_vain >= 1 && in_vain <= 4, `${in_vain} claims in vain`);
});

it('they begin at different trees, and lead all of them', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
  const WORKERS = 6;
  const all_looked = Promise.withResolvers<void>();
  let looks = 0;
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () =>
      worker(database, () => {
        looks += 1;
        if (looks === WORKERS) all_looked.resolve();
        return all_looked.promise;
      }),
    ),
  );
  const [first] = workers;
  assert.ok(first);
  const ids = await enter(first, 40);
  for (const { keeper } of workers) keeper.wake();
  const led = () => workers.flatMap(({ claims }) => claims.filter(({ was_free }) => was_free));
  await until(() => led().length >= ids.length, 'all are led');
  for (const { keeper } of workers) await keeper.stop();
  assert.deepEqual(
    led()
      .map(({ root_id }) => root_id)
      .toSorted(),
    ids.toSorted(),
  );
  const beginnings = new Set(workers.map(({ claims }) => claims[0]?.root_id));
  assert.ok(beginnings.size > 1, 'all began at the same tree');
});
