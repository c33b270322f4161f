// Proves that on one PostgreSQL ledger, this version and a process of an older schema that is still running see the same leases.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import pg from 'pg';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { UNEXPIRED } from '../../src/store/ledger/sql-conditions.ts';
import { openStore } from '../../src/store/open-store.ts';
import { FUNCTIONS } from '../../src/store/postgres/functions.ts';
import { executeSql } from '../postgres/execute-sql.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { newAgent } from './ledger-fixture.ts';

/** The functions as schema 13 installed them: the facts of a worker were its columns. */
const FUNCTIONS_OF_13 = FUNCTIONS.replace(`, ${UNEXPIRED} AS leased`, '');

/** Drops what later migrations add. */
const WITHOUT_LATER = `
  ALTER TABLE asks DROP COLUMN subject_kind, DROP COLUMN granted, DROP COLUMN revoked_at;
  ALTER TABLE mail DROP COLUMN images, DROP COLUMN did;
  ALTER TABLE messages DROP COLUMN changed;
  ALTER TABLE agents DROP COLUMN budget;
  ALTER TABLE subagent_runs DROP COLUMN outcome, DROP COLUMN outcome_text;
  ALTER TABLE trees DROP COLUMN cached_tokens, DROP COLUMN reserved_tokens, DROP COLUMN reserved_usd;
  ALTER TABLE mail DROP COLUMN facts;
  DROP TABLE tasks;
  DROP TABLE instructions;
  DROP INDEX agents_by_kind, messages_checkpoints, mail_by_root, asks_open_by_time;`;

it('a worker that leads a tree keeps it while another process migrates the ledger', async () => {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  const [leader, other] = ['leader', 'other'].map((id) => ({ id, host: 'elsewhere', pid: 1 }));
  assert.ok(leader && other);
  const root = newAgent(null, { worker: leader.id });
  const before = await openStore(url);
  await before.heartbeat(leader);
  await before.createRoot(root, DEFAULT_LIMITS, { served: true });
  await before.close();
  await executeSql(
    url,
    `DELETE FROM coppice_migrations WHERE number >= 14; ${WITHOUT_LATER} ${FUNCTIONS_OF_13}`,
  );

  const store = await openStore(url);
  assert.deepEqual(await store.claim(root.agent.id, other), []);
  assert.equal((await store.agent(root.agent.id))?.worker, leader.id);

  // A process of schema 13 decides by these columns.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `SELECT kind, answer FROM coppice_facts('{"worker": ["${leader.id}"]}')`,
  );
  await client.end();
  const { now, worker } = Object.fromEntries(rows.map(({ kind, answer }) => [kind, answer]));
  const [{ id, expires_at, leased }] = worker[leader.id];
  assert.deepEqual([id, expires_at > now, leased], [leader.id, true, true]);
  await store.close();
  await server.stop();
});
