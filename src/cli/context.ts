import type { Command } from 'commander';
import { type Style, styleOf } from '../render/style.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { type LoadedConfiguration, loadConfiguration } from './config.ts';
import { databaseText, dataFolder } from './folders.ts';

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
  readonly out: Style;
  readonly err: Style;
  /** Columns of standard output; 100 when it is none of a terminal. */
  readonly width: number;
  openStore(): Promise<Store>;
}

export function contextOf(command: Command): Context {
  const options = command.optsWithGlobals() as GlobalOptions;
  const { env } = process;
  const loaded = loadConfiguration(options.config, env);
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
    out: styleOf(process.stdout, no_color, env),
    err: styleOf(process.stderr, no_color, env),
    width: process.stdout.columns ?? 100,
    openStore: () => openStore(database),
  };
}

/** Opens the ledger, does the work, closes it whatever happens. */
export async function withStore<T>(context: Context, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await context.openStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
