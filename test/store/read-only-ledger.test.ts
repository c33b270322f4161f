// Proves the lists of the read-only ledger: by prefix of an id or a name, only living or open ones on request, the newest first, up to the limit.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { Agent } from '../../src/records/agent/agent.ts';
import { openStore } from '../../src/store/open-store.ts';
import { ReadOnlyLedger } from '../../src/store/sqlite/read-only-ledger.ts';
import { jobOf } from '../cron/cron-stage.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { CONFIG, child, fresh, newAgent, newDelivery, newRoot, said, stepOf } from './ledger-fixture.ts';
import { askOf, EVERY, runOf } from './retention-fixture.ts';

const folder = temporaryFolder();
const file = join(folder, 'ledger.db');
const ANY = { prefix: '', open: false, limit: 100 };
let glance: ReadOnlyLedger;
let root: Agent;
before(async () => {
  const store = await openStore(file);
  root = await newRoot(store, {}, { id: 'aa-root', name: 'main', created_at: 1 });
  await store.commit([stepOf(root, { messages: ['two', 'three', 'four'].map(said) })]);
  await child(store, root, { id: 'ab-kid', name: 'bb-name' });
  await child(store, root, { id: 'bb-dead', name: 'gone', state: { type: 'killed', by: 'you' } });
  await child(store, root, { id: 'cc_kid', name: 'c%me' });
  await newRoot(
    store,
    {},
    { id: 'dd-root', name: 'main', created_at: 3, config: { ...CONFIG, cwd: '/elsewhere' } },
  );
  await newRoot(
    store,
    {},
    { id: 'de-root', name: 'main', created_at: 2, config: { ...CONFIG, cwd: '/elsewhere' } },
  );
  for (const [id, ends] of [
    ['run-1', true],
    ['run-2', false],
    ['other-3', false],
  ] as const) {
    const session = newAgent(root, {
      origin: 'session',
      id: `session-${id}`,
      name: 'runner',
      state: { type: 'idle' },
    });
    const run = { ...runOf(root), id };
    const created = stepOf(await fresh(store, root), { messages: [said(id)], create: [{ ...session, run }] });
    assert.ok((await store.commit([created]))[0]?.ok);
    const agent = (await store.agent(session.agent.id)) as Agent;
    if (ends) await store.commit([stepOf(agent, { state: { type: 'completed', result: 'done' } })]);
  }
  const asks = ['ask-1', 'ask-2', 'query-3'].map((id) => ({ ...askOf(root), id }));
  await store.commit([stepOf(await fresh(store, root), { messages: [said('asks')], asks })]);
  await store.answer('ask-1', { verdict: 'allow', scope: 'once', note: '', by: 'you', at: 1 });
  for (const name of ['nightly', 'weekly', 'nine'])
    await store.createJob({ ...jobOf(EVERY), id: randomUUID(), name }, null);
  const deliver = ['out-1', 'out-2', 'sent-3'].map((id) =>
    newDelivery(root, { id, target: `${id}:x`, created_at: 1 }),
  );
  await store.commit([stepOf(await fresh(store, root), { messages: [said('out')], deliver })]);
  await store.close();
  const sql = await import('node:sqlite');
  const plain = new sql.DatabaseSync(file);
  plain.exec("UPDATE deliveries SET status = 'delivered' WHERE id = 'out-1'");
  plain.close();
  glance = new ReadOnlyLedger(file);
});
after(() => {
  glance.close();
  assert.throws(() => glance.agents(ANY), /not open/);
});
const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

it('agents: living ones first, then the newest; by id or name', () => {
  const all = ids(glance.agents(ANY));
  assert.deepEqual(all.slice(-2), ['session-run-1', 'bb-dead']);
  assert.deepEqual(all.slice(0, 2), ['session-other-3', 'session-run-2']);
  assert.equal(all.length, 9);
  assert.deepEqual(ids(glance.agents({ ...ANY, prefix: 'bb' })), ['ab-kid', 'bb-dead']);
  assert.deepEqual(ids(glance.agents({ ...ANY, prefix: 'bb', open: true })), ['ab-kid']);
  assert.deepEqual(ids(glance.agents({ ...ANY, prefix: 'a' })), ['ab-kid', 'aa-root']);
  assert.deepEqual(ids(glance.agents({ ...ANY, prefix: 'a', limit: 1 })), ['ab-kid']);
  for (const prefix of ['%', '_', 'c%m_', 'b_']) assert.deepEqual(ids(glance.agents({ ...ANY, prefix })), []);
  assert.equal(glance.agents({ ...ANY, open: true }).length, 7);
});

it('the newest conversation of a folder, and its first messages', () => {
  assert.equal(glance.newestRoot('/elsewhere'), 'dd-root');
  assert.equal(glance.newestRoot('/'), 'aa-root');
  assert.equal(glance.newestRoot('/nowhere'), null);
  assert.deepEqual(
    glance.first('aa-root').map(({ seq }) => seq),
    [1, 2, 3],
  );
});

it('runs, asks, jobs and deliveries; only open ones on request', () => {
  assert.deepEqual(ids(glance.runs(ANY)), ['other-3', 'run-2', 'run-1']);
  assert.deepEqual(ids(glance.runs({ ...ANY, open: true })), ['other-3', 'run-2']);
  assert.deepEqual(ids(glance.runs({ ...ANY, prefix: 'run', limit: 1 })), ['run-2']);
  assert.deepEqual(ids(glance.asks(ANY)), ['ask-1', 'ask-2', 'query-3']);
  assert.deepEqual(ids(glance.asks({ ...ANY, open: true })), ['ask-2', 'query-3']);
  assert.deepEqual(ids(glance.asks({ ...ANY, prefix: 'ask' })), ['ask-1', 'ask-2']);
  const jobs = (prefix: string) => glance.jobs({ prefix, limit: 100 }).map(({ name }) => name);
  assert.deepEqual(
    [jobs(''), jobs('ni'), jobs('nine')],
    [['nightly', 'nine', 'weekly'], ['nightly', 'nine'], ['nine']],
  );
  assert.deepEqual(ids(glance.deliveries(ANY)), ['sent-3', 'out-2']);
  assert.deepEqual(ids(glance.deliveries({ ...ANY, prefix: 'out' })), ['out-2']);
});
