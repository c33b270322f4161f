// Proves that what people and programs ask for often reads as much of a ledger ten times as large, and that the rest grows at most in proportion.
import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { growLedger } from '../../bench/growth/grown-ledger.ts';
import { type Ground, OPERATIONS } from '../../bench/growth/operations.ts';
import { openStore } from '../../src/store/open-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newLedger } from './new-ledger.ts';

const SIZES = [40, 400] as const;
/** Rows that a page has more of on the larger ledger, because the smaller one has none for a whole page. */
const FULL_PAGE = 200;

describe('on a ledger ten times as large', () => {
  const execute = {
    all: StatementSync.prototype.all,
    get: StatementSync.prototype.get,
    run: StatementSync.prototype.run,
  };
  const grounds: Ground[] = [];
  let [rows, statements] = [0, 0];
  before(async () => {
    for (const trees of SIZES) {
      const url = await newLedger(temporaryFolder());
      const grown = await growLedger(url, trees);
      grounds.push({ ...grown, url, store: await openStore(url) });
    }
    for (const name of ['all', 'get', 'run'] as const)
      StatementSync.prototype[name] = function (this: StatementSync, ...values: never[]) {
        const found: unknown = (execute[name] as (...all: never[]) => unknown).apply(this, values);
        statements += 1;
        rows += Array.isArray(found) ? found.length : 1;
        return found;
      } as never;
  });
  after(async () => {
    Object.assign(StatementSync.prototype, execute);
    for (const { store } of grounds) await store.close();
  });

  for (const { name, grows, run } of OPERATIONS)
    it(`${name}: ${grows}`, async () => {
      const counts: { rows: number; statements: number }[] = [];
      for (const ground of grounds) {
        [rows, statements] = [0, 0];
        await run(ground);
        counts.push({ rows, statements });
      }
      const [small, large] = counts;
      assert.ok(small && large && small.statements > 0);
      const [times, page] = grows === 'linear' ? [12, 100] : [1.1, FULL_PAGE];
      const what = JSON.stringify(counts);
      assert.ok(large.statements <= small.statements * times + (grows === 'linear' ? 100 : 5), what);
      assert.ok(large.rows <= small.rows * times + page, what);
    });
});
