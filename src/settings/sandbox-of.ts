import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CommandLimits } from '../processes/limits/command-budget.ts';
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
): { sandbox: Sandbox | null; limits: CommandLimits } {
  return { sandbox: sandboxOf(config, env, ledger), limits: config?.limits ?? {} };
}

function modeOf({ COPPICE_SANDBOX: named }: NodeJS.ProcessEnv): Mode | undefined {
  if (!named || SANDBOX_MODES.some((mode) => mode === named)) return (named || undefined) as Mode | undefined;
  throw new CoppiceError('E_CONFIG', `COPPICE_SANDBOX is "${named}": use ${SANDBOX_MODES.join(', ')}`);
}

/** Walls are put up around what a path leads to. */
function placeOf(path: string): string {
  const whole = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
  try {
    return realpathSync(whole);
  } catch {
    return whole;
  }
}
