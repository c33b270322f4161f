import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { AgentState } from '../../src/records/agent/state.ts';
import type { NewAsk } from '../../src/records/conversation/ask.ts';
import { openStore } from '../../src/store/open-store.ts';
import { migrationsOf } from '../../src/store/schema/migrations.ts';
import type { Store } from '../../src/store/store.ts';
import { jobOf } from '../cron/cron-stage.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { CONFIG, child, fresh, letter, newAsk, said, stepOf } from './ledger-fixture.ts';
import { ATTACHED, checkOldTexts, OLD_TEXTS } from './old-texts.ts';

/** Rows as schema 1 has them, in SQL that both databases read. */
const AGENT_COLUMNS = `INSERT INTO agents (id, root_id, parent_id, name, session_key, origin, depth, config, status, state, last_seq,
  mail_count, living_children, worker, epoch, calls, input_tokens, output_tokens, reply, created_at, updated_at)`;
const IDLE = JSON.stringify({ type: 'idle' });
const ROWS = `
INSERT INTO trees (root_id, limits, live, total, tokens) VALUES ('root-1', '${JSON.stringify(DEFAULT_LIMITS)}', 2, 2, 120);
${AGENT_COLUMNS} VALUES ('root-1', 'root-1', NULL, 'main 漢字', 'agent:main:main', 'root', 0, '${JSON.stringify(CONFIG)}', 'idle', '${IDLE}', 2,
  1, 1, NULL, 3, 4, 100, 20, 'the reply', 1000, 2000);
${AGENT_COLUMNS} VALUES ('fork-1', 'root-1', 'root-1', 'fork', 'agent:main:fork:fork-1', 'fork', 1, '${JSON.stringify(CONFIG)}', 'idle', '${IDLE}', 2,
  0, 0, NULL, 1, 0, 0, 0, NULL, 1500, 1500);
UPDATE agents SET forked_from = 'root-1', forked_seq = 2 WHERE id = 'fork-1';
INSERT INTO messages (agent_id, seq, kind, content, at) VALUES ('root-1', 1, 'user', '${JSON.stringify(said('first').content)}', 1000);
INSERT INTO messages (agent_id, seq, kind, content, at) VALUES ('root-1', 2, 'user', '${JSON.stringify(said('second 🎋').content)}', 1100);
INSERT INTO mail (id, root_id, to_id, from_id, from_name, kind, body, number, sent_at)
  VALUES ('mail-1', 'root-1', 'root-1', 'fork-1', 'fork', 'letter', 'unread', 1, 1600);
INSERT INTO requests (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, started_at, duration_ms)
  VALUES ('root-1', 'fake/m', 100, 20, 0, 0, 1000, 50);
`;

/**
 * Rows as schema 5 has them: a served tree that nobody leads, with an agent that waits and one that rests; the same led by a live process on another
 * machine; and the same in a tree that is not served.
 */
const SCHEMA = 5;
const WAITING: AgentState = {
  type: 'waiting',
  wait: { from: null, deadline: 9_000_000_000_000 },
  since: 1_000,
};
const rowOf5 = (root: string, id: string, state: AgentState) => `
${AGENT_COLUMNS} VALUES ('${id}', '${root}', ${id === root ? 'NULL' : `'${root}'`}, '${id}', 'agent:main:${id}', 'root', 0, '${JSON.stringify(CONFIG)}',
  '${state.type}', '${JSON.stringify(state)}', 0, 0, 1, ${root === 'led' ? "'far'" : 'NULL'}, 3, 0, 0, 0, NULL, 1000, 1000);
UPDATE agents SET deaths = 2, last_write = 'mark' WHERE id = '${id}';`;
const ROWS_OF_5 = ['left', 'led', 'own']
  .map(
    (root) => `
INSERT INTO trees (root_id, limits, live, total, served)
  VALUES ('${root}', '${JSON.stringify(DEFAULT_LIMITS)}', 2, 2, ${root !== 'own'});
${rowOf5(root, root, WAITING)}
${rowOf5(root, `${root}-rests`, { type: 'idle' })}`,
  )
  .concat(
    `INSERT INTO workers (id, host, pid, expires_at, role) VALUES ('far', 'elsewhere', 1, 9000000000000, 'worker');`,
  )
  .join('');

/** Checks that leases and counters are kept, and that agents that need a leader are unled. */
async function checkRowsOf5(store: Store): Promise<void> {
  assert.deepEqual(await store.unledTrees(10), ['left']);
  for (const root of ['left', 'led', 'own']) {
    const [waits, rests] = [await store.agent(root), await store.agent(`${root}-rests`)];
    assert.deepEqual([waits?.state, waits?.deaths, waits?.epoch], [WAITING, 2, 3]);
    assert.deepEqual([rests?.state, rests?.deaths], [{ type: 'idle' }, 2]);
    assert.equal(waits?.worker, root === 'led' ? 'far' : null);
  }
  const far = (await store.workers()).find(({ id }) => id === 'far');
  assert.deepEqual([far?.role, far?.draining], ['worker', false]);
}

async function check(store: Store): Promise<void> {
  const root = await store.agent('root-1');
  assert.ok(root);
  assert.deepEqual(
    [root.name, root.state, root.last_seq, root.epoch, root.calls, root.reply, root.noticed],
    ['main 漢字', { type: 'idle' }, 2, 3, 4, 'the reply', 0],
  );
  assert.deepEqual(root.config, CONFIG);
  assert.deepEqual(
    (await store.history('fork-1')).map(({ agent_id, content }) => [agent_id, content]),
    ['first', 'second 🎋'].map((text) => ['root-1', said(text).content]),
  );
  assert.deepEqual(
    (await store.mail('root-1')).map((mail) => [mail.body, mail.number]),
    [['unread', 1]],
  );
  assert.equal((await store.requests('root-1'))[0]?.usage.input, 100);
  assert.deepEqual(await store.tree('root-1'), {
    root_id: 'root-1',
    limits: DEFAULT_LIMITS,
    live: 2,
    total: 2,
    tokens: 120,
    cost_usd: 0,
  });
  assert.deepEqual(await store.runs({}), []);
}

/** Uses old and new features of the ledger on the old rows. */
async function workOn(store: Store): Promise<void> {
  const worker = { id: 'w1', host: 'elsewhere', pid: 1 };
  await store.heartbeat(worker);
  assert.equal((await store.claim('root-1', worker)).length, 2);
  const root = await store.agent('root-1');
  const fork = await store.agent('fork-1');
  assert.ok(root && fork);
  const [taken] = await store.commit([
    stepOf(root, { messages: [said(ATTACHED)], consume: [{ mail_id: 'mail-1', seq: 3 }], noticed: 1 }),
  ]);
  assert.ok(taken?.ok, JSON.stringify(taken));
  // Written now, a text is what it is: only rows of older versions are read for facts.
  assert.deepEqual((await store.history('root-1')).at(-1)?.content, { ...said(ATTACHED).content, facts: {} });
  const session = await child(store, root, { id: 'session-1', origin: 'session', state: { type: 'idle' } });
  const [sent] = await store.commit([stepOf(fork, { send: [letter(fork, root, 'new')] })]);
  assert.ok(sent?.ok && sent.sent[0]?.number === 2);
  const [ended] = await store.commit([
    stepOf(session, { state: { type: 'completed', result: 'r' }, send: [letter(session, root, 'done')] }),
  ]);
  assert.ok(ended?.ok);
  const [removed] = await store.commit([stepOf(await fresh(store, root), { remove: [session.id] })]);
  assert.ok(removed?.ok);
  assert.equal(await store.agent(session.id), null);
  assert.equal((await store.agent('root-1'))?.noticed, 1);
  assert.deepEqual(
    (await store.mail('root-1')).map((mail) => mail.body),
    ['new', 'done'],
  );
  const ask = askOf('fork-1');
  const [asked] = await store.commit([
    stepOf(await fresh(store, fork), { asks: [ask], messages: [said('may I?')] }),
  ]);
  assert.ok(asked?.ok, JSON.stringify(asked));
  assert.deepEqual(
    (await store.asks({ root_id: 'root-1', open: true })).map(({ id }) => id),
    [ask.id],
  );
  const answer = { verdict: 'allow', scope: 'agent', note: '', by: 'you', at: 8_000 } as const;
  assert.ok((await store.answer(ask.id, answer)).ok);
  assert.equal(root.reaped_at, null);
  const job = jobOf({ type: 'every', every_ms: 60_000, anchor: 0 }, { name: 'nightly' });
  assert.equal(await store.createJob(job, 60_000), 'created');
  assert.equal((await store.dueJobs(60_000, 10)).length, 1);
  const told = {
    id: 'reply-1',
    kind: 'reply',
    target: 'file:x',
    root_id: 'root-1',
    agent_id: 'root-1',
  } as const;
  const [delivered] = await store.commit([
    stepOf(await fresh(store, root), { deliver: [{ ...told, about: null, body: 'text', created_at: 1 }] }),
  ]);
  assert.ok(delivered?.ok, JSON.stringify(delivered));
  assert.equal((await store.claimDeliveries('w1', 1, 10, ['file'])).length, 1);
  assert.equal(await store.takeSeat('telegram', 'w1'), true);
  assert.equal((await store.workers()).find(({ id }) => id === 'w1')?.role, 'run');
  assert.deepEqual((await store.kill('root-1', 'you', 9_000)).ids.toSorted(), ['fork-1', 'root-1']);
  assert.deepEqual(await store.reap('root-1', 9_500), ['fork-1']);
}

function askOf(agent_id: string): NewAsk {
  return newAsk({ id: 'ask-1', root_id: 'root-1', agent_id, agent_name: 'fork', asked_at: 7_000 });
}

async function openTwice(url: string, schema: number): Promise<void> {
  const [store, beside] = await Promise.all([openStore(url), openStore(url)]);
  if (schema === SCHEMA) await checkRowsOf5(store);
  await checkOldTexts(store);
  await check(store);
  await check(beside);
  await workOn(store);
  await store.close();
  await beside.close();
  const again = await openStore(url);
  assert.equal((await again.agent('root-1'))?.state.type, 'killed');
  assert.equal((await again.agent('fork-1'))?.reaped_at, 9_500);
  assert.equal((await again.findAsks('ask-1'))[0]?.verdict, 'allow');
  await again.close();
}

/** The schemas before the current one. */
export const OLD_SCHEMAS = migrationsOf('sqlite')
  .slice(0, -1)
  .map(({ number }) => number);

/** A quick run tests only these: the first, the one with rows of its own, and the newest. */
export const FEW_SCHEMAS = [1, SCHEMA, ...OLD_SCHEMAS.slice(-1)];

/** Tests that ledgers of this schema open under the current code with all their rows, and work. */
export function testOldLedger(schema: number): void {
  describe(`a ledger of schema ${schema}`, () => {
    it('on SQLite', async () => {
      const folder = temporaryFolder();
      const file = join(folder, 'ledger.db');
      const old = new DatabaseSync(file);
      old.exec(
        `PRAGMA journal_mode = WAL; PRAGMA application_id = ${0x436f7070}; PRAGMA user_version = ${schema};`,
      );
      for (const { sql } of migrationsOf('sqlite').slice(0, schema)) old.exec(sql);
      old.exec(ROWS);
      old.exec(OLD_TEXTS);
      if (schema === SCHEMA) old.exec(ROWS_OF_5);
      old.close();
      await openTwice(`sqlite:${file}`, schema);
    });

    describe('on PostgreSQL', () => {
      let server: Databases;
      before(async () => {
        server = await sharedPostgres();
      });
      after(() => server.stop());

      it('with its rows', async () => {
        const url = await server.createEmpty();
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query(
          'CREATE TABLE coppice_migrations (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
        );
        for (const { number, sql } of migrationsOf('postgres').slice(0, schema)) {
          await client.query(sql);
          await client.query('INSERT INTO coppice_migrations (number) VALUES ($1)', [number]);
        }
        await client.query(ROWS);
        await client.query(OLD_TEXTS);
        if (schema === SCHEMA) await client.query(ROWS_OF_5);
        await client.end();
        await openTwice(url, schema);
      });
    });
  });
}
