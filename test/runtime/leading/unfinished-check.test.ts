// Proves that a tree is not released while a failed read that followed a signal has not been repeated: SQLite deletes signals when they are read.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { humanMail } from '../../../src/runtime/orders/ledger-orders.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { closeOpened } from '../../close-opened.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { setStage } from '../stage.ts';

afterEach(closeOpened);

it('a tree is not released until missed signals have been read', async () => {
  const folder = temporaryFolder();
  const database = `sqlite:${join(folder, 'ledger.db')}`;
  let [breaks, broken] = [false, 0];
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'mail' && name !== 'tree') return value.bind(target);
        return async (...given: unknown[]) => {
          if (!breaks) return value.apply(target, given);
          broken += 1;
          throw new Error('the disk does not answer');
        };
      },
    });
  const on = await setStage(({ user }) => `read ${user}`, { database, wrap });
  const { root } = await on.perform('first');
  const outside = await openStore(database);
  breaks = true;
  await outside.send(humanMail(root, 'letter', 'second'));
  await until(() => broken > 0, 'the letter could not be read');
  assert.equal(await on.runtime.release(root.id), false);
  breaks = false;
  // Sends another hint, so that the test does not depend on the poll.
  await outside.send(humanMail(root, 'letter', 'third'));
  await until(async () => (await outside.mail(root.id)).length === 0, 'both letters are read');
  await until(() => on.runtime.release(root.id), 'it is released');
  await on.close();
  await outside.close();
});
