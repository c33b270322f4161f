import { databaseAddress } from '../../store/database-address.ts';
import { postgresAddress } from '../../store/postgres/postgres-address.ts';

/** The address of a ledger for people: without a password. Throws a `StoreError`. */
export function ledgerName(database: string): string {
  const address = databaseAddress(database);
  return address.kind === 'sqlite' ? database : postgresAddress(address.url).location;
}
