import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
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
  if (process.platform === 'darwin' && !env[xdg])
    return join(homedir(), 'Library', 'Application Support', 'coppice');
  return join(env[xdg] || join(homedir(), unix_folder), 'coppice');
}

/** The user's own files: `config.json`, `agents/*.md`. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return userFolder(env, 'APPDATA', 'Roaming', 'XDG_CONFIG_HOME', '.config');
}

/** The rules that the user granted for good (docs/approvals.md). */
export function rulesFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), 'rules.json');
}

/** The ledger, spilled output and worktrees, by default. */
export function dataFolder(env: NodeJS.ProcessEnv): string {
  return userFolder(env, 'LOCALAPPDATA', 'Local', 'XDG_DATA_HOME', '.local/share');
}

/** The server that is asked instead of a database: `--server`, or `COPPICE_SERVER` where no database is named. */
export function serverUrl(
  { server, database }: { readonly server?: string | undefined; readonly database?: string | undefined },
  env: NodeJS.ProcessEnv,
): string | null {
  return (server ?? (database === undefined ? env.COPPICE_SERVER : undefined)) || null;
}

/** The ledger: from the command line, the environment, the configuration, or the user's own. An empty variable counts as unset. */
export function databaseText(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  configured: () => string | undefined,
): string {
  return named ?? (env.DATABASE_URL || (configured() ?? usualDatabase(env)));
}

/** The agents' folder: `--cwd` or this process's, without symbolic links. */
export function workFolder(named: string | undefined): string {
  const folder = resolve(named ?? '.');
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** Tokens and addresses of the servers of this machine. */
export function serversFolder(data_folder: string): string {
  return join(data_folder, 'server');
}

/** Logins at MCP servers. */
export function loginsFolder(data_folder: string): string {
  return join(data_folder, 'mcp-logins');
}

/** Spilled output of tools, and worktrees. */
export function outputFolder(data_folder: string): string {
  return join(data_folder, 'output');
}

/** Where settings and compiled code are looked for: by this process, and by one without its environment variables. */
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

/** The configuration file; `explicit` if it was named. */
export function configFile(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
): { readonly file: string; readonly explicit: boolean } {
  const explicit = named ?? env.COPPICE_CONFIG;
  return { file: explicit ?? join(configFolder(env), 'config.json'), explicit: explicit !== undefined };
}
