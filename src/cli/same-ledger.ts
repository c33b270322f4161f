import { databaseAddress } from '../store/database-address.ts';
import { postgresAddress } from '../store/postgres/postgres-address.ts';
import type { Context } from './context.ts';

/** Flags that a command which is told to a person needs to find the same ledger: those that were given to this one, without a password. */
export function sameLedger({ options: { database, config } }: Context): string {
  const flags = [
    ...(database === undefined ? [] : [` --database ${quoted(shown(database))}`]),
    ...(config === undefined ? [] : [` --config ${quoted(config)}`]),
  ];
  return flags.join('');
}

function shown(database: string): string {
  const address = databaseAddress(database);
  return address.kind === 'sqlite' ? database : postgresAddress(address.url).location;
}

/** One word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
