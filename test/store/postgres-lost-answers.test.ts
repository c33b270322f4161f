// Proves that lost answers of the PostgreSQL server lose nothing and repeat nothing, and that a silent server is given up.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { StoreError } from '../../src/store/store-error.ts';
import { faultyWire } from '../postgres/faulty-wire.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';
import { newRoot, said, stepOf } from './ledger-fixture.ts';
import { workThrough } from './outage-stage.ts';

describe('a PostgreSQL ledger behind a wire', () => {
  let server: Databases;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.stop());

  it('that loses one in twelve answers', async (context) => {
    const wire = await faultyWire(await server.createDatabase(), { seed: 7, one_in: 12 });
    const report = await workThrough(wire.url, async () => {
      wire.say = 'some';
      await until(() => wire.lost() > 100, 'answers are lost');
      wire.say = 'all';
    });
    context.diagnostic(`${wire.lost()} answers lost; ${JSON.stringify(report)}`);
    assert.ok(report.ambiguous > 0, 'some were answers to what had been done');
    await wire.close();
  });

  it('that falls silent: calls time out, and take effect once when retried on another connection', async () => {
    const wire = await faultyWire(await server.createDatabase(), { seed: 7, one_in: 12 });
    const store = await openStore(wire.url);
    const root = await newRoot(store);
    const step = stepOf(root, { messages: [said('once')] });
    wire.say = 'nothing';
    const first = await store.commit([step]).then(
      () => 'answered',
      (error: StoreError) => error.code,
    );
    assert.equal(first, 'E_DB_UNAVAILABLE');
    wire.say = 'all';
    const [again] = await store.commit([step]);
    assert.ok(again?.ok === true || again?.refusal.reason === 'stale');
    assert.equal((await store.history(root.id)).length, 2);
    await store.close();
    await wire.close();
  });
});
