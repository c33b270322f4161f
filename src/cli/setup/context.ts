import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { workingFolder } from '../../processes/working-folder.ts';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import { type Style, styleOf } from '../../render/style.ts';
import type { ClientOptions } from '../../serve/client/client-request.ts';
import {
  configFolder,
  databaseAddressText,
  dataFolder,
  defaultDatabase,
  serversFolder,
  serverUrl,
} from '../../settings/folders.ts';
import { ledgerName, withSameLedger } from '../../settings/suggested-command.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store-error.ts';
import { type LoadedConfiguration, loadConfiguration } from './load-configuration.ts';

export interface GlobalOptions {
  readonly config?: string;
  readonly database?: string;
  readonly server?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly json?: boolean;
  readonly color: boolean;
  readonly debug?: boolean;
}

/** Input of every command: the global flags, the configuration, and how to open the ledger. */
export interface Context {
  readonly options: GlobalOptions;
  /** Environment of this process, plus the keys that were given to `coppice setup`. */
  readonly env: NodeJS.ProcessEnv;
  readonly loaded: LoadedConfiguration;
  readonly database: string;
  /** Server that is used instead of the database; null for the database. */
  readonly server: ClientOptions | null;
  readonly data_folder: string;
  readonly json: boolean;
  readonly version: string;
  readonly out: Style;
  readonly err: Style;
  /** Columns of standard output; infinite where it is no terminal, since nothing is cut in a pipe. */
  readonly width: number;
  /** `withSameLedger` with the flags of this command. */
  readonly hint: (text: string) => string;
  /** Opens the ledger. If there is none, commands with `creates_ledger` create it, and the others get an empty one. */
  openStore(): Promise<Store>;
  /** Opens the ledger, or resolves to null if there is none; never creates it. */
  openIfExists(): Promise<Store | null>;
}

export interface WorkOptions {
  /** Whether the command creates the ledger if there is none. All others treat a missing ledger as empty. Default false. */
  readonly creates_ledger?: boolean;
  /** Whether the command works with the database itself, or with files of this machine, and refuses `--server`. Default false. */
  readonly local?: boolean;
}

export async function contextOf(
  command: Command,
  { creates_ledger = false, local = false }: WorkOptions,
): Promise<Context> {
  const options = command.optsWithGlobals() as GlobalOptions;
  const env = await environment();
  const loaded = await loadConfiguration(options.config, env);
  const data_folder = dataFolder(env);
  const url = serverUrl(options, env);
  if (options.server !== undefined && options.database !== undefined)
    throw new CoppiceError('E_USAGE', '--server and --database: only one of them', {
      hint: 'A server has its own database',
    });
  if (local && options.server !== undefined) throw notRemote(command, '--server');
  const server = url === null || local ? null : await serverOf(url, env, data_folder);
  // One of the server's machine otherwise; doctor tells it among all else that is missing.
  if (options.cwd !== undefined && server === null && command.name() !== 'doctor') workingFolder(options.cwd);
  const database = databaseAddressText(options.database, env, () => loaded.configuration.database);
  const no_color = options.color === false;
  return {
    options,
    env,
    loaded,
    database,
    server,
    data_folder,
    json: options.json === true,
    version: programOf(command).version() ?? '',
    out: styleOf(process.stdout, no_color, env),
    err: styleOf(process.stderr, no_color, env),
    width: process.stdout.columns ?? Number.POSITIVE_INFINITY,
    hint: (text) => withSameLedger({ options }, text),
    openStore: async () => {
      if (url !== null) throw notRemote(command, 'COPPICE_SERVER');
      return creates_ledger ? openStore(database) : openToRead(database, options.database !== undefined, env);
    },
    openIfExists: () => openIfExists(database),
  };
}

/** Loads the environment and the configuration again after `coppice setup` has changed them. */
export async function reloaded(context: Context): Promise<Context> {
  const env = await environment();
  return { ...context, env, loaded: await loadConfiguration(context.options.config, env) };
}

/** Returns the environment plus the keys that were given to `coppice setup`; variables that are set take precedence. */
async function environment(): Promise<NodeJS.ProcessEnv> {
  const { env } = process;
  if (!existsSync(configFolder(env))) return env;
  const { readKeys } = await import('../../settings/key-file.ts');
  const set = Object.entries(env).filter(([, value]) => value !== '');
  return { ...readKeys(env), ...Object.fromEntries(set) };
}

function notRemote(command: Command, by: '--server' | 'COPPICE_SERVER'): CoppiceError {
  return new CoppiceError(
    'E_USAGE',
    `${nameOf(command)} works with the database or the files of this machine, not with a server`,
    {
      hint: `Run it on the machine of the server, without ${by}${by === '--server' ? '' : ' or with --database'}`,
    },
  );
}

export const NO_TOKEN = 'none';

/** Takes the token from `COPPICE_TOKEN`, else from a file of this machine; `NO_TOKEN` if there is none, which a server that is there refuses. */
async function serverOf(url: string, env: NodeJS.ProcessEnv, data_folder: string): Promise<ClientOptions> {
  const { tokenFile } = await import('../../serve/http/access.ts');
  const file = tokenFile(serversFolder(data_folder), 'write');
  return { url, token: env.COPPICE_TOKEN || orElse(() => readFileSync(file, 'utf8').trim(), NO_TOKEN) };
}

function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}

/** Returns the full name of a command, such as `coppice worker list`. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

async function openIfExists(database: string): Promise<Store | null> {
  try {
    return await openStore(database, { create: false });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'E_DB_NONE') return null;
    throw error;
  }
}

/** Opens the ledger for reading. One that `--database` names must exist; any other may not exist yet, and counts as empty. */
async function openToRead(database: string, named: boolean, env: NodeJS.ProcessEnv): Promise<Store> {
  if (named) return openStore(database, { create: false });
  const store = await openIfExists(database);
  if (store !== null) return store;
  const where = ledgerName(database);
  if (database !== defaultDatabase(env)) process.stderr.write(`there is no ledger at ${where} yet\n`);
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
