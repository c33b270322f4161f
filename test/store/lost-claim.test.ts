// Proves that a claim whose acknowledgement was lost can be retried by its own worker only, takes effect once, and is fenced out if another worker claims
// meanwhile.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, it } from 'node:test';
import type { Agent } from '../../src/records/agent/agent.ts';
import { newTurn } from '../../src/records/agent/state.ts';
import type { Database } from '../../src/store/ledger/database.ts';
import { openLedger } from '../../src/store/ledger/ledger.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fresh, newRoot, said, stepOf } from './ledger-fixture.ts';

const folder = temporaryFolder();
const file = join(folder, 'ledger.db');

/** Opens the ledger in the file; while `lose` is set, transactions commit and their acknowledgements are lost. */
function open() {
  const db = new SqliteDatabase(file, openDatabase(file, true), {});
  const wire = { lose: false };
  const transact: Database['transact'] = async (wanted, decide, look) => {
    const answer = await db.transact(wanted, decide, look);
    if (wire.lose) throw new StoreError('E_DB_UNAVAILABLE', 'the answer was lost');
    return answer;
  };
  const lossy = new Proxy(db as Database, {
    get: (target, name) => {
      if (name === 'transact') return transact;
      const value = target[name as keyof Database];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store: openLedger(lossy), wire };
}

const { store, wire } = open();
const { store: other } = open();
after(async () => {
  await store.close();
  await other.close();
});

const AT_WORK: Agent['state'] = {
  type: 'executing',
  seq: 1,
  running: [{ call: { id: 'c1', name: 'bash', input: '{}', side_by_side: false, idempotent: false } }],
  queued: [],
  results: [],
  spawned: [],
  early: [],
  turn: newTurn(1),
};

async function living(of = store) {
  const worker = { id: `w-${randomUUID()}`, host: 'elsewhere', pid: 1 };
  await of.heartbeat(worker);
  return worker;
}

async function loseClaim(root: Agent, worker: { id: string; host: string; pid: number }): Promise<void> {
  wire.lose = true;
  await assert.rejects(store.claim(root.id, worker), { code: 'E_DB_UNAVAILABLE' });
  wire.lose = false;
}

it('is offered again to its worker, repeated, and then settled', async () => {
  const [root, worker] = [await newRoot(store, {}, { worker: null, state: AT_WORK }), await living()];
  await loseClaim(root, worker);
  assert.equal((await fresh(other, root)).worker, worker.id, 'it was done');
  assert.deepEqual(await other.claim(root.id, worker), [], 'who did not make it does not know it again');
  assert.deepEqual((await store.unledTrees(10)).includes(root.id), true);
  assert.equal((await other.unledTrees(10)).includes(root.id), false);
  const [claimed] = await store.claim(root.id, worker);
  assert.deepEqual([claimed?.id, claimed?.worker, claimed?.deaths], [root.id, worker.id, 0]);
  assert.deepEqual(await store.claim(root.id, worker), [], 'an answered claim is not made again');
  const [verdict] = await store.commit([stepOf(claimed as Agent, { messages: [said('led')] })]);
  assert.ok(verdict?.ok);
  assert.deepEqual(await store.claim(root.id, worker), [], 'an answered claim is not made again');
  assert.equal((await store.unledTrees(10)).includes(root.id), false);
});

it('is void if another worker claimed the tree meanwhile: writes of the first are refused', async () => {
  const [root, late] = [await newRoot(store, {}, { worker: null }), await living()];
  await loseClaim(root, late);
  const believed = await fresh(store, root);
  assert.equal(believed.worker, late.id);
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.prepare('UPDATE workers SET expires_at = 1 WHERE id = ?').run(late.id);
  database.close();
  const next = await living(other);
  const [taken] = await other.claim(root.id, next);
  assert.deepEqual([taken?.worker, taken?.epoch], [next.id, believed.epoch + 1]);
  await store.heartbeat(late);
  assert.deepEqual(await store.claim(root.id, late), []);
  const [refused] = await store.commit([stepOf(believed, { messages: [said('too late')] })]);
  assert.ok(refused?.ok === false && refused.refusal.reason === 'stale');
  const [accepted] = await other.commit([stepOf(taken as Agent, { messages: [said('in time')] })]);
  assert.ok(accepted?.ok);
  assert.equal((await fresh(store, root)).worker, next.id);
});
