import { databaseAddress } from '../store/database-address.ts';
import { postgresAddress } from '../store/postgres/postgres-address.ts';

/** Command-line options that determine the ledger. */
export interface LedgerContext {
  readonly options: { readonly database?: string; readonly server?: string; readonly config?: string };
}

/** The address of a ledger for people, without a password. Throws a `StoreError`. */
export function ledgerName(database: string): string {
  const address = databaseAddress(database);
  return address.kind === 'sqlite' ? database : postgresAddress(address.url).location;
}

/** Returns the command that continues the tree on the same ledger, to be shown to a person. */
export function resumeCommand(context: LedgerContext, root_id: string, ask: boolean): string {
  return `coppice resume ${root_id.slice(0, 8)}${ask ? ' --ask' : ''}${sameLedgerFlags(context)}`;
}

/** The flags given to this command that another one needs to find the same ledger, without a password. */
export function sameLedgerFlags({ options: { database, server, config } }: LedgerContext): string {
  const flags = [
    ...(database === undefined ? [] : databaseFlag(database)),
    ...(server === undefined ? [] : [` --server ${shellWord(server)}`]),
    ...(config === undefined ? [] : [` --config ${shellWord(config)}`]),
  ];
  return flags.join('');
}

/** None for an address that is none: no command works with it. */
function databaseFlag(database: string): string[] {
  try {
    return [` --database ${shellWord(ledgerName(database))}`];
  } catch {
    return [];
  }
}

/** A command in a text: `coppice`, its name, and for the groups whose parts differ in what they take, the name of the part. */
const COMMAND =
  /\bcoppice (?=(approvals|budget|compact|cron|deliveries|diff|export|kill|logs|merge|ps|resume|rewind|run|search|send|show|subagent|tasks|tree|usage|wait|why|workflow|worker list|worker drain|--tree|acp|blame|demo|doctor|gc|mcp|profiles|record|replay|serve|setup|trust|ui|web|worker)\b)/g;
/** Commands that refuse `--server`. */
const LOCAL = new Set(
  '--tree acp blame demo doctor gc mcp profiles record replay serve setup trust ui web worker workflow'.split(
    ' ',
  ),
);

/** Gives the commands in a hint the flags by which they find the same ledger, so that they work as they stand; those that have them keep them. */
export function withSameLedger(context: LedgerContext, hint: string): string {
  const { server: _, ...local } = context.options;
  const flags = sameLedgerFlags(context);
  if (flags === '' || hint.includes(flags)) return hint;
  return hint.replaceAll(
    COMMAND,
    (_whole, name: string) => `coppice${LOCAL.has(name) ? sameLedgerFlags({ options: local }) : flags} `,
  );
}

export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
