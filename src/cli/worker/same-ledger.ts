import type { Context } from '../setup/context.ts';
import { ledgerName } from '../setup/ledger-name.ts';

/** Flags that a command which is told to a person needs to find the same ledger: those that were given to this one, without a password. */
export function sameLedger({ options: { database, config } }: Context): string {
  const flags = [
    ...(database === undefined ? [] : [` --database ${quoted(ledgerName(database))}`]),
    ...(config === undefined ? [] : [` --config ${quoted(config)}`]),
  ];
  return flags.join('');
}

/** One word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
