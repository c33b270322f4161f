// Proves that transactions of the SQLite ledger are atomic, that it opens only existing ledgers when told so, and that it works beside a lock.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { sqliteStoreError } from '../../src/store/sqlite/sqlite-error.ts';
import { openEmptyStore } from '../../src/store/sqlite/sqlite-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newRoot } from './ledger-fixture.ts';

const folder = temporaryFolder();
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code: string }) => error.code,
  );

it('waits for the disk at every commit: what was acknowledged survives a power loss', () => {
  const database = openDatabase(join(folder, 'synced.db'), true);
  const setting = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  // 2 means FULL.
  assert.deepEqual([setting('journal_mode'), setting('synchronous')], ['wal', 2]);
  database.close();
});

it('rolls back a transaction that fails in the middle, and continues with the next', async () => {
  const file = join(folder, 'half.db');
  const database = new SqliteDatabase(file, openDatabase(file, true), {});
  const seats = () => database.read('SELECT channel FROM channel_seats ORDER BY channel');
  const seat = (channel: string) => ({ channel, worker: 'w' });
  await assert.rejects(
    database.transact({}, () => {
      throw new Error('decided otherwise');
    }),
    /decided otherwise/,
  );
  await database.transact({}, (unit) => unit.rows.insert('channel_seats', seat('b')));
  // The second row violates the key after the first was written.
  await assert.rejects(
    database.transact({}, (unit) => {
      unit.rows.insert('channel_seats', seat('a'));
      unit.rows.insert('channel_seats', seat('b'));
    }),
    /UNIQUE/,
  );
  await database.transact({}, (unit) => unit.rows.insert('channel_seats', seat('c')));
  assert.deepEqual(
    (await seats()).map(({ channel }) => channel),
    ['b', 'c'],
  );
  await database.close();
  await database.close();
});

it('creates no ledger when told not to: a missing or empty file is none', async () => {
  const empty = join(folder, 'empty.db');
  writeFileSync(empty, '');
  const look = { create: false };
  assert.equal(await code(openStore(join(folder, 'nowhere.db'), look)), 'E_DB_NONE');
  assert.equal(await code(openStore(empty, look)), 'E_DB_NONE');
  const text = join(folder, 'text.db');
  writeFileSync(text, 'x'.repeat(2_000));
  assert.equal(await code(openStore(text, look)), 'E_DB_CORRUPT');
  assert.equal(await code(openStore(folder, look)), 'E_DB_UNREADABLE');
  await (await openStore(empty)).close();
  await (await openStore(empty, look)).close();
});

it('an empty store stands in for a missing ledger, with the same schema', async () => {
  const store = openEmptyStore(join(folder, 'nowhere.db'));
  assert.deepEqual([await store.agents({}), await store.tree('x')], [[], null]);
  const root = await newRoot(store);
  assert.equal((await store.agent(root.id))?.id, root.id);
  await store.close();
  assert.equal(await code(openStore(join(folder, 'nowhere.db'), { create: false })), 'E_DB_NONE');
});

it('names the damaged row, and the seq of a message', async () => {
  const file = join(folder, 'damaged.db');
  const store = await openStore(file);
  const root = await newRoot(store);
  const other = new DatabaseSync(file, { timeout: 10_000 });
  other.exec("UPDATE messages SET content = '{'");
  await assert.rejects(store.history(root.id), {
    code: 'E_DB_CORRUPT',
    message: new RegExp(`"content" of the row ${root.id}, message 1 cannot`),
  });
  other.exec("UPDATE trees SET limits = '{'");
  await assert.rejects(store.tree(root.id), {
    code: 'E_DB_CORRUPT',
    message: new RegExp(`"limits" of the row ${root.id} cannot`),
  });
  other.close();
  await store.close();
});

it('says why a ledger that must exist cannot be looked for', () => {
  const loop = join(folder, 'loop');
  symlinkSync(loop, loop);
  for (const [file, message] of [
    [join(loop, 'ledger.db'), /its symbolic links form a loop/],
    [join(folder, 'x'.repeat(300)), /its path is too long/],
  ] as const)
    assert.throws(() => openDatabase(file, false), { code: 'E_DB_UNREADABLE', message });
});

it('maps errors of SQLite and the file system by code; others pass through', () => {
  const said = (fields: object) => {
    const error = Object.assign(new Error('text'), fields);
    const made = sqliteStoreError(error, 'file') as { code?: string };
    return made === error ? 'passes' : made.code;
  };
  // Extended result codes hold the primary one in their last byte.
  for (const errcode of [5, 6, 5 | (2 << 8)]) assert.equal(said({ errcode }), 'E_DB_BUSY');
  for (const errcode of [10, 10 | (1 << 8)]) assert.equal(said({ errcode }), 'E_DB_UNAVAILABLE');
  for (const errcode of [13, 10 | (3 << 8), 10 | (19 << 8)]) assert.equal(said({ errcode }), 'E_DB_FULL');
  assert.equal(said({ errcode: 14 }), 'E_DB_UNREADABLE');
  assert.equal(said({ errcode: 8 }), 'E_DB_READ_ONLY');
  assert.equal(said({ errcode: 19, code: 'EACCES' }), 'passes');
  assert.equal(said({ code: 'ENOSPC' }), 'E_DB_FULL');
  assert.equal(said({ code: 'EROFS' }), 'E_DB_READ_ONLY');
  assert.equal(said({}), 'passes');
  assert.equal(sqliteStoreError('text', 'file'), 'text');
});
