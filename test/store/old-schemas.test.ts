// Proves that a ledger from before the first release is refused with what to do, on both databases, and stays as it was, and that a new ledger has the first
// published schema and opens again. A ledger of schema 23 is upgraded with all its rows, and works.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { migrationsOf, NEWEST_SCHEMA, OLDEST_SCHEMA } from '../../src/store/schema/migrations.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fresh, newRoot, said, stepOf } from './ledger-fixture.ts';
import { ATTACHED, checkOldTexts, OLD_TEXTS } from './old-texts.ts';

const APPLICATION_ID = 0x436f7070;

const schema23 = (kind: 'sqlite' | 'postgres') => migrationsOf(kind)[0]?.sql ?? '';

async function checkUpgraded(url: string): Promise<void> {
  const stores = await Promise.all([openStore(url), openStore(url)]);
  for (const store of stores) await checkOldTexts(store);
  const [store] = stores;
  const root = await newRoot(store);
  const [taken] = await store.commit([stepOf(await fresh(store, root), { messages: [said(ATTACHED)] })]);
  assert.ok(taken?.ok, JSON.stringify(taken));
  // Written now, a text is what it is: only rows of older versions are read for facts.
  assert.deepEqual((await store.history(root.id)).at(-1)?.content, { ...said(ATTACHED).content, facts: {} });
  await Promise.all(stores.map((one) => one.close()));
  const again = await openStore(url, { create: false });
  await checkOldTexts(again);
  assert.equal((await again.agent(root.id))?.id, root.id);
  await again.close();
}

it('upgrades a SQLite ledger of schema 23, once for two that open it, with its rows', async () => {
  const file = join(temporaryFolder(), 'ledger.db');
  const old = new DatabaseSync(file);
  old.exec(
    `PRAGMA journal_mode = WAL; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 23; ${schema23('sqlite')} ${OLD_TEXTS}`,
  );
  old.close();
  await checkUpgraded(`sqlite:${file}`);
});

it('upgrades a PostgreSQL ledger of schema 23, once for two that open it, with its rows', async () => {
  const server = await sharedPostgres();
  const url = await server.createEmpty();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE coppice_migrations (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO coppice_migrations (number) SELECT generate_series(1, 23); ${schema23('postgres')} ${OLD_TEXTS}`);
  await client.end();
  await checkUpgraded(url);
  await server.stop();
});

for (const schema of [1, OLDEST_SCHEMA - 1])
  it(`refuses a SQLite ledger of schema ${schema}`, async () => {
    const file = join(temporaryFolder(), 'ledger.db');
    const old = new DatabaseSync(file);
    old.exec(`CREATE TABLE trees (root_id text PRIMARY KEY) STRICT; INSERT INTO trees VALUES ('kept');
      PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${schema};`);
    await assert.rejects(openStore(file), {
      code: 'E_DB_OLDER',
      message: new RegExp(`${file} .*schema ${schema}, .*: read it with .* --database`),
    });
    assert.deepEqual(
      [...old.prepare('SELECT root_id FROM trees').all()].map((row) => row.root_id),
      ['kept'],
    );
    assert.deepEqual({ ...old.prepare('PRAGMA user_version').get() }, { user_version: schema });
    old.close();
  });

it('refuses a PostgreSQL ledger of an older schema', async () => {
  const server = await sharedPostgres();
  const url = await server.createEmpty();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE coppice_migrations (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO coppice_migrations (number) SELECT generate_series(1, ${OLDEST_SCHEMA - 1})`);
  await assert.rejects(openStore(url), { code: 'E_DB_OLDER', message: /read it with .* --database/ });
  const { rows } = await client.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`,
  );
  assert.deepEqual(rows, [{ tablename: 'coppice_migrations' }]);
  await client.end();
  await server.stop();
});

it('creates a ledger of the newest schema once, when two open it at the same time', async () => {
  const server = await sharedPostgres();
  for (const url of [`sqlite:${join(temporaryFolder(), 'ledger.db')}`, await server.createEmpty()]) {
    const stores = await Promise.all([openStore(url), openStore(url)]);
    for (const store of stores) assert.deepEqual(await store.agents({}), []);
    await Promise.all(stores.map((store) => store.close()));
    const again = await openStore(url, { create: false });
    assert.deepEqual(await again.agents({}), []);
    await again.close();
  }
  assert.ok(NEWEST_SCHEMA >= OLDEST_SCHEMA);
  await server.stop();
});
