// Proves the order of a removal: closed, archived, on the disk, then removed; and that what cannot be archived stays, open as before.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { type Archive, removeOld } from '../../src/store/remove-old.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothDatabases } from '../runtime/both-databases.ts';
import { said } from './ledger-fixture.ts';
import { ENDED, oldTree, TERMS } from './retention-fixture.ts';

onBothDatabases('a removal', (database) => {
  async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'coppice-remove-'));
    const store = await openStore((await database()) ?? join(folder, 'ledger.db'));
    await work(store);
    await store.close();
    rmSync(folder, { recursive: true });
  }
  const options = { terms: TERMS, runs: false, dry_run: false };

  it('removes no row before it is on the disk elsewhere', () =>
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

  it('that cannot be archived leaves everything as it was', () =>
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

  it('of a large tree takes many transactions, and counts right', () =>
    withStore(async (store) => {
      const messages = Array.from({ length: 5_000 }, (_, n) => said(`${n}`));
      const root = await oldTree(store, ENDED, { messages });
      let pieces = 0;
      const counted = new Proxy(store, {
        get(target, name) {
          if (name === 'removePiece') pieces += 1;
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
