// Proves that the SQLite ledger keeps the store contract.
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
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
