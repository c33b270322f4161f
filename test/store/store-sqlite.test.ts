// Proves that the SQLite ledger keeps the store contract.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import { storeContract } from './contract.ts';

storeContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-sqlite-'));
  return {
    open: (options) => openStore(`sqlite:${join(folder, 'ledger.db')}`, options),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
});
