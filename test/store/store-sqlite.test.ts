// Proves that the SQLite ledger keeps the store contract, and that decisions know every column of the tables that they write: PostgreSQL writes no others.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { TABLES } from '../../src/kernel/ledger/tables.ts';
import { openStore } from '../../src/store/open-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { storeContract } from './contract/contract.ts';
import { newLedger } from './new-ledger.ts';

storeContract('SQLite', async () => {
  const folder = temporaryFolder();
  const url = await newLedger(folder);
  const file = url.slice('sqlite:'.length);
  return {
    open: (options) => openStore(url, options),
    execute: async (sql) => {
      const database = new DatabaseSync(file, { timeout: 10_000 });
      try {
        database.exec(sql);
      } finally {
        database.close();
      }
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

it('the tables that decisions write have the columns that decisions know', async () => {
  const folder = temporaryFolder();
  const database = new DatabaseSync((await newLedger(folder)).slice('sqlite:'.length));
  for (const [name, { key, columns }] of Object.entries(TABLES)) {
    const found = database.prepare(`SELECT name FROM pragma_table_info('${name}')`).all();
    const known = [...(key.length === 0 ? ['id'] : []), ...Object.keys(columns)];
    assert.deepEqual(found.map((one) => one.name).sort(), known.sort(), name);
  }
  database.close();
  rmSync(folder, { recursive: true, force: true });
});
