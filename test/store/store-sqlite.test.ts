// Proves that the SQLite ledger keeps the store contract.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../src/store/open-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { storeContract } from './contract/contract.ts';

storeContract('SQLite', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'ledger.db');
  return {
    open: (options) => openStore(`sqlite:${file}`, options),
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
