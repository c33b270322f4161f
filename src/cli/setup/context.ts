import type { Command } from 'commander';
import { type Style, styleOf } from '../../render/style.ts';
import { databaseText, dataFolder, usualDatabase } from '../../settings/folders.ts';
import { ledgerName } from '../../settings/ledger-name.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store-error.ts';
import { type LoadedConfiguration, loadConfiguration } from './load-configuration.ts';

export interface GlobalOptions {
  readonly config?: string;
  readonly database?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly json?: boolean;
  readonly color: boolean;
  readonly debug?: boolean;
}

/** What every command starts from: the global flags, the configuration, and how to open the ledger. */
export interface Context {
  readonly options: GlobalOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly loaded: LoadedConfiguration;
  readonly database: string;
  readonly data_folder: string;
  readonly json: boolean;
  /** Of this program. */
  readonly version: string;
  readonly out: Style;
  readonly err: Style;
  /** Columns of standard output; 100 where it is no terminal. */
  readonly width: number;
  /** The ledger. If there is none, commands with `creates_ledger` create it, and the others get an empty one. */
  openStore(): Promise<Store>;
  /** The ledger, or null if there is none; never creates it. */
  openIfExists(): Promise<Store | null>;
}

export async function contextOf(command: Command, creates_ledger: boolean): Promise<Context> {
  const options = command.optsWithGlobals() as GlobalOptions;
  const { env } = process;
  const loaded = await loadConfiguration(options.config, env);
  const data_folder = dataFolder(env);
  const database = databaseText(options.database, env, () => loaded.configuration.database);
  const no_color = options.color === false;
  return {
    options,
    env,
    loaded,
    database,
    data_folder,
    json: options.json === true,
    version: programOf(command).version() ?? '',
    out: styleOf(process.stdout, no_color, env),
    err: styleOf(process.stderr, no_color, env),
    width: process.stdout.columns ?? 100,
    openStore: () =>
      creates_ledger ? openStore(database) : openToRead(database, options.database !== undefined, env),
    openIfExists: () => openIfExists(database),
  };
}

function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}

async function openIfExists(database: string): Promise<Store | null> {
  try {
    return await openStore(database, { create: false });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'E_DB_NONE') return null;
    throw error;
  }
}

/** A ledger that was named must exist; the default one may not exist yet. */
async function openToRead(database: string, named: boolean, env: NodeJS.ProcessEnv): Promise<Store> {
  if (named) return openStore(database, { create: false });
  const store = await openIfExists(database);
  if (store !== null) return store;
  const where = ledgerName(database);
  if (database !== usualDatabase(env)) process.stderr.write(`there is no ledger at ${where} yet\n`);
  const { openEmptyStore } = await import('../../store/sqlite/sqlite-store.ts');
  return openEmptyStore(where);
}

/** Opens the ledger for the work and closes it afterwards. */
export async function withStore<T>(context: Context, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await context.openStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
