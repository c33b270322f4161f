import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { meantPath, realPath } from '../processes/working-folder.ts';
import { cacheFolder } from './cache-folder.cjs';

type Variable = 'APPDATA' | 'LOCALAPPDATA' | 'XDG_CONFIG_HOME' | 'XDG_DATA_HOME';

function userFolder(
  env: NodeJS.ProcessEnv,
  windows: Variable,
  windows_folder: string,
  xdg: Variable,
  unix_folder: string,
) {
  if (process.platform === 'win32')
    return join(env[windows] ?? join(homedir(), 'AppData', windows_folder), 'coppice');
  // A relative path counts as unset, as the XDG specification says: it would be in the folder in which agents work.
  const named = isAbsolute(env[xdg] ?? '') ? env[xdg] : undefined;
  if (process.platform === 'darwin' && named === undefined)
    return join(homedir(), 'Library', 'Application Support', 'coppice');
  return join(named ?? join(homedir(), unix_folder), 'coppice');
}

/** Folder of the user's own files: `config.json`, `agents/*.md`. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return userFolder(env, 'APPDATA', 'Roaming', 'XDG_CONFIG_HOME', '.config');
}

/** File with the rules that the user granted permanently (docs/approvals.md). */
export function rulesFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), 'rules.json');
}

/** Default folder of the ledger, spilled output and worktrees. */
export function dataFolder(env: NodeJS.ProcessEnv): string {
  return userFolder(env, 'LOCALAPPDATA', 'Local', 'XDG_DATA_HOME', '.local/share');
}

/** URL of the server to use instead of a database: `--server`, or `COPPICE_SERVER` if no database is named. Null: none. */
export function serverUrl(
  { server, database }: { readonly server?: string | undefined; readonly database?: string | undefined },
  env: NodeJS.ProcessEnv,
): string | null {
  return (server ?? (database === undefined ? env.COPPICE_SERVER : undefined)) || null;
}

/** Address of the ledger: from the command line, `DATABASE_URL`, the configuration, or the user's default. An empty variable counts as unset. */
export function databaseAddressText(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  configured: () => string | undefined,
): string {
  return named ?? (env.DATABASE_URL || (configured() ?? defaultDatabase(env)));
}

/** The agents' folder: `--cwd` or the working directory of this process, with symbolic links resolved. */
export function workFolder(named: string | undefined): string {
  return realPath(resolve(named ?? '.'));
}

/** Folder of the tokens and addresses of the servers on this machine. */
export function serversFolder(data_folder: string): string {
  return join(data_folder, 'server');
}

/** Folder of the logins at MCP servers. */
export function loginsFolder(data_folder: string): string {
  return join(data_folder, 'mcp-logins');
}

/** Folder of spilled tool output and of worktrees. */
export function outputFolder(data_folder: string): string {
  return join(data_folder, 'output');
}

/** Paths of settings, data and compiled code, as this process finds them, and as one without its environment variables does. */
export function settingsPlaces(named: string | undefined, env: NodeJS.ProcessEnv): readonly string[] {
  return [
    configFile(named, env).file,
    ...[env, {}].flatMap((one) => [configFolder(one), dataFolder(one), cacheFolder(one)]),
  ];
}

/** Path of the user's default ledger. */
export function defaultDatabase(env: NodeJS.ProcessEnv): string {
  return join(dataFolder(env), 'coppice.db');
}

/** Path of the configuration file; `explicit` if it was named. An empty variable counts as unset. */
export function configFile(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
): { readonly file: string; readonly explicit: boolean } {
  const explicit = named ?? (env.COPPICE_CONFIG || undefined);
  return {
    file: meantPath(explicit ?? join(configFolder(env), 'config.json')),
    explicit: explicit !== undefined,
  };
}
