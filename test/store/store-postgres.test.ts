// Proves that the PostgreSQL ledger keeps the store contract, on a real server.
import { openStore } from '../../src/store/open-store.ts';
import { executeSql } from '../postgres/execute-sql.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { storeContract } from './contract/contract.ts';

storeContract('PostgreSQL', async () => {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  return {
    open: (options) => openStore(url, options),
    execute: (sql) => executeSql(url, sql),
    close: () => server.stop(),
  };
});
