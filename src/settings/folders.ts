import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { cacheFolder } from './cache-folder.cjs';

/** Where the user's own files live: `config.json`, `agents/*.md`. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32')
    return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'coppice');
  if (process.platform === 'darwin' && !env.XDG_CONFIG_HOME)
    return join(homedir(), 'Library', 'Application Support', 'coppice');
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'coppice');
}

/** Where the ledger and spilled output live unless told otherwise. */
export function dataFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32')
    return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'coppice');
  if (process.platform === 'darwin' && !env.XDG_DATA_HOME)
    return join(homedir(), 'Library', 'Application Support', 'coppice');
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'coppice');
}

/** Which ledger is meant: what the command line says, the environment, the configuration, or the user's own. An empty variable says nothing. */
export function databaseText(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  configured: () => string | undefined,
): string {
  return named ?? (env.DATABASE_URL || (configured() ?? usualDatabase(env)));
}

/** The folder that is worked in, as agents have it: `--cwd` or this process's, without links. */
export function workFolder(named: string | undefined): string {
  const folder = resolve(named ?? '.');
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** Output of tools that did not fit a result, and worktrees. */
export function outputFolder(data_folder: string): string {
  return join(data_folder, 'output');
}

/** Where settings and compiled code of this program are, or would be looked for: by this process, and by one without its variables. */
export function settingsPlaces(named: string | undefined, env: NodeJS.ProcessEnv): readonly string[] {
  return [
    configFile(named, env).file,
    ...[env, {}].flatMap((one) => [configFolder(one), dataFolder(one), cacheFolder(one)]),
  ];
}

/** The user's own ledger. */
export function usualDatabase(env: NodeJS.ProcessEnv): string {
  return join(dataFolder(env), 'coppice.db');
}

/** Which configuration is read; `explicit` when somebody named it. */
export function configFile(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
): { readonly file: string; readonly explicit: boolean } {
  const explicit = named ?? env.COPPICE_CONFIG;
  return { file: explicit ?? join(configFolder(env), 'config.json'), explicit: explicit !== undefined };
}
