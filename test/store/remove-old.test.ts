// Proves the order of a removal (closed, archived, synced to disk, removed), and that a tree that cannot be archived is kept, open as before.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { type Archive, removeOld } from '../../src/store/remove-old.ts';
import type { Store } from '../../src/store/store.ts';
import { alwaysOnBothDatabases } from '../runtime/both-databases.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fresh, newDelivery, said, stepOf } from './ledger-fixture.ts';
import { ENDED, endLongAgo, OLD, oldRun, oldTree, TERMS } from './retention-fixture.ts';

alwaysOnBothDatabases('a removal', (database) => {
  async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
    const folder = temporaryFolder();
    const store = await openStore((await database()) ?? join(folder, 'ledger.db'));
    await work(store);
    await store.close();
  }
  const options = { terms: TERMS, runs: false, dry_run: false };

  it('removes no row before the archive is on the disk', () =>
    withStore(async (store) => {
      const roots: string[] = [];
      for (let n = 0; n < 60; n += 1) roots.push((await oldTree(store, ENDED)).id);
      const [written, settled] = [new Set<string>(), new Set<string>()];
      const archive: Archive = {
        async write(entry) {
          if (entry.type === 'tree') written.add(entry.tree.root_id);
        },
        async settle() {
          for (const id of written) {
            assert.ok((await store.agent(id)) !== null || settled.has(id), 'it is still there');
            settled.add(id);
          }
          for (const id of roots)
            if (!settled.has(id)) assert.ok(await store.agent(id), 'it waits for its turn');
        },
      };
      const { trees, rows } = await removeOld(store, { ...options, archive });
      assert.deepEqual([trees.length, rows.trees, rows.agents, settled.size], [60, 60, 60, 60]);
      for (const id of roots) assert.equal(await store.agent(id), null);
    }));

  it('that cannot be archived changes nothing', () =>
    withStore(async (store) => {
      const root = await oldTree(store, ENDED);
      const full: Archive = {
        write: async () => undefined,
        settle: () => Promise.reject(new Error('no space left')),
      };
      await assert.rejects(removeOld(store, { ...options, archive: full }), /no space left/);
      assert.deepEqual(await store.closedTrees(10), []);
      assert.equal((await store.history(root.id)).length, 1);
      assert.equal((await removeOld(store, { ...options, archive: null })).rows.trees, 1);
    }));

  it('continues an interrupted removal and counts it; a dry run counts the same and changes nothing', () =>
    withStore(async (store) => {
      const closed: string[] = [];
      for (let n = 0; n < 60; n += 1) closed.push((await oldTree(store, ENDED)).id);
      assert.equal((await store.closeTrees(closed, TERMS)).length, 60);
      await oldTree(store, ENDED);
      const found = async (dry_run: boolean) => {
        const { trees, resumed, rows } = await removeOld(store, { ...options, dry_run, archive: null });
        return [trees.length, resumed, rows.trees, rows.agents, rows.messages];
      };
      assert.deepEqual(await found(true), [1, 60, 61, 61, 61]);
      assert.deepEqual(await found(false), [1, 60, 61, 61, 61]);
      assert.deepEqual(await found(false), [0, 0, 0, 0, 0]);
    }));

  it('removes deliveries always and runs on request, each after the archive is on the disk', () =>
    withStore(async (store) => {
      const root = await oldTree(store, { type: 'idle' });
      const { agent } = await oldRun(store, root);
      const ids = ['d-1', 'd-2', 'd-3'];
      const fields = { kind: 'reply', target: 'channel:x', about: null, body: 'b', created_at: OLD } as const;
      const deliver = ids.map((id) => ({ ...fields, id, root_id: root.id, agent_id: root.id }));
      const step = { at: OLD, messages: [said('out')], remove: [agent.id], deliver };
      assert.ok((await store.commit([stepOf(await fresh(store, root), step)]))[0]?.ok);
      await store.heartbeat({ id: 'w', host: 'elsewhere', pid: 1 });
      await store.claimDeliveries('w', OLD, 10, ['channel']);
      for (const id of ids) await store.endDelivery(id, 'w', 1, { status: 'delivered', at: OLD });
      const kept: string[] = [];
      let settled = 0;
      const archive: Archive = {
        write: async ({ type }) => void kept.push(type),
        settle: async () => {
          settled = kept.length;
        },
      };
      const watched = new Proxy(store, {
        get(target, name) {
          if (name === 'removeEntries') assert.equal(settled, kept.length, 'it is on the disk');
          const value = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const found = async (over: Partial<typeof options>) => {
        const { rows } = await removeOld(watched, { ...options, archive, ...over });
        return [rows.trees, rows.deliveries, rows.runs];
      };
      assert.deepEqual(await found({ dry_run: true, runs: true }), [0, 3, 1]);
      assert.deepEqual([await found({ dry_run: true }), kept], [[0, 3, 0], []]);
      assert.deepEqual([await found({}), kept], [[0, 3, 0], Array(3).fill('delivery')]);
      assert.deepEqual([await found({ runs: true }), kept.at(-1)], [[0, 0, 1], 'run']);
      assert.deepEqual([await found({ runs: true }), kept.length], [[0, 0, 0], 4]);
    }));

  it('keeps a run as long as anything about it was not delivered: what is pending, and what failed for good', () =>
    withStore(async (store) => {
      const root = await oldTree(store, { type: 'idle' });
      const runs: string[] = [];
      for (const [at, about] of [['a'], ['b', 'c'], []].entries()) {
        const { agent, run } = await oldRun(store, root);
        runs.push(run.id);
        const deliver = about.map((id) => newDelivery(root, { id, about: run.id, target: `channel:${at}` }));
        const step = { at: OLD, messages: [said('out')], remove: [agent.id], deliver };
        assert.ok((await store.commit([stepOf(await fresh(store, root), step)]))[0]?.ok);
      }
      await store.heartbeat({ id: 'w', host: 'elsewhere', pid: 1 });
      await store.claimDeliveries('w', OLD, 10, ['channel']);
      const failed = { status: 'failed', at: OLD, error: 'gone' } as const;
      await store.endDelivery('a', 'w', 1, failed);
      await store.endDelivery('b', 'w', 1, { status: 'delivered', at: OLD });
      const found = async (dry_run: boolean) => {
        const { rows } = await removeOld(store, { ...options, runs: true, dry_run, archive: null });
        return [rows.deliveries, rows.runs];
      };
      assert.deepEqual(
        [await found(true), await found(false)],
        [
          [1, 1],
          [1, 1],
        ],
      );
      const left = (await store.runs({})).map(({ id }) => id);
      assert.deepEqual(left.toSorted(), runs.slice(0, 2).toSorted(), 'one failed, one is pending');
      await store.endDelivery('c', 'w', 1, failed);
      assert.deepEqual(await found(false), [0, 0], 'the failed delivery of a tree stays with its run');
      await endLongAgo(store, root);
      await found(false);
      assert.deepEqual((await store.runs({})).length, 2, 'also when its tree has gone');
    }));

  it('takes the runs of a tree with it on request; a dry run counts the same', () =>
    withStore(async (store) => {
      for (let n = 0; n < 2; n += 1) {
        const root = await oldTree(store, { type: 'idle' });
        await oldRun(store, root);
        await endLongAgo(store, root);
      }
      const found = async (dry_run: boolean, runs: boolean) => {
        const { rows } = await removeOld(store, { ...options, dry_run, runs, archive: null });
        return [rows.trees, rows.agents, rows.runs];
      };
      assert.deepEqual(await found(true, false), [2, 4, 0]);
      assert.deepEqual(await found(true, true), [2, 4, 2]);
      assert.deepEqual(await found(false, true), [2, 4, 2]);
      assert.deepEqual(await store.runs({}), []);
    }));

  it('of a large tree takes many transactions, and counts correctly', () =>
    withStore(async (store) => {
      const messages = Array.from({ length: 5_000 }, (_, n) => said(`${n}`));
      const root = await oldTree(store, ENDED, { messages });
      let pieces = 0;
      const counted = new Proxy(store, {
        get(target, name) {
          if (name === 'removeTreeRows') pieces += 1;
          const value = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const looked = await removeOld(counted, { ...options, dry_run: true, archive: null });
      assert.deepEqual([looked.rows.messages, pieces], [5_001, 0]);
      const { rows } = await removeOld(counted, { ...options, archive: null });
      assert.equal(rows.messages, 5_001);
      assert.ok(pieces >= 3, `${pieces} pieces`);
      assert.equal(await store.tree(root.id), null);
    }));
});
