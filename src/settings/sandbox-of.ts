import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CommandLimits } from '../processes/limits/command-budget.ts';
import type { CommandBounds } from '../processes/sandbox/command-bounds.ts';
import type { ProgramWalls } from '../processes/sandbox/program-walls.ts';
import { Sandbox } from '../processes/sandbox/sandbox.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { Store } from '../store/store.ts';
import { configFolder, dataFolder } from './folders.ts';
import { SANDBOX_MODES, type SandboxConfig } from './settings.ts';

type Mode = (typeof SANDBOX_MODES)[number];

/**
 * The walls around what agents start; null: a person switched them off, in the configuration or with `COPPICE_SANDBOX`. They hide this program's own
 * files and its ledger, too. Throws `E_CONFIG`.
 */
export function sandboxOf(
  config: SandboxConfig | undefined,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
): Sandbox | null {
  const mode = modeOf(env) ?? config?.mode ?? 'workspace';
  if (mode === 'off') return null;
  const { write = [], read = [], hide = [], hosts = [], sockets = false } = config ?? {};
  return new Sandbox({
    ...{ mode, hosts, sockets },
    write: write.map(placeOf),
    read: read.map(placeOf),
    hidden: [
      ...[env, {}].flatMap((one) => [configFolder(one), dataFolder(one)]),
      ...(ledger?.kind === 'sqlite' ? ['', '-wal', '-shm'].map((end) => ledger.location + end) : []),
      ...hide.map(placeOf),
    ],
  });
}

/** The walls around commands of agents, and what such a command may take, which holds without walls, too. Throws `E_CONFIG`. */
export function commandBounds(
  config: SandboxConfig | undefined,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'>,
): CommandBounds & { readonly limits: CommandLimits } {
  return { sandbox: sandboxOf(config, env, ledger), limits: config?.limits ?? {} };
}

function modeOf({ COPPICE_SANDBOX: named }: NodeJS.ProcessEnv): Mode | undefined {
  if (!named || SANDBOX_MODES.some((mode) => mode === named)) return (named || undefined) as Mode | undefined;
  throw new CoppiceError('E_CONFIG', `COPPICE_SANDBOX is "${named}": use ${SANDBOX_MODES.join(', ')}`);
}

/**
 * The walls around a program that stays: those of commands, and opened for what it needs itself. Null: a person switched them off, for all or for
 * this program. Throws `E_CONFIG`; `key` names its entry.
 */
export function programSandbox(
  config: SandboxConfig | undefined,
  { sandbox, hosts = [], writable = [], sockets = false }: ProgramWalls,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
  key: string,
): Sandbox | null {
  const all = {
    ...config,
    hosts: [...(config?.hosts ?? []), ...hosts],
    sockets: config?.sockets === true || sockets,
  };
  const walls =
    sandbox === 'off'
      ? null
      : sandboxOf({ ...all, write: [...(config?.write ?? []), ...writable] }, env, ledger);
  const missing = walls === null ? undefined : writable.find((path) => !existsSync(wholePath(path)));
  if (missing === undefined) return walls;
  throw new CoppiceError('E_CONFIG', `${key} is to write to ${missing}, which is not there`, {
    hint: 'Start the program once yourself, or create the folder: within its walls it cannot',
  });
}

function wholePath(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
}

/** Walls are put up around what a path leads to. */
function placeOf(path: string): string {
  const whole = wholePath(path);
  try {
    return realpathSync(whole);
  } catch {
    return whole;
  }
}
