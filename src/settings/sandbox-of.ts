import { existsSync } from 'node:fs';
import type { CommandLimits } from '../processes/limits/command-budget.ts';
import type { CommandBounds } from '../processes/sandbox/command-bounds.ts';
import { Sandbox } from '../processes/sandbox/sandbox.ts';
import type { SandboxNeeds } from '../processes/sandbox/sandbox-needs.ts';
import { meantPath, realPath } from '../processes/working-folder.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { Store } from '../store/store.ts';
import { configFolder, dataFolder } from './folders.ts';
import { SANDBOX_MODES, type SandboxConfig } from './settings.ts';

type Mode = (typeof SANDBOX_MODES)[number];

/**
 * Sandbox for programs that agents start; null if a person switched it off, in the configuration or with `COPPICE_SANDBOX`. It also hides this program's own
 * files and its ledger. Throws `E_CONFIG`.
 */
export function sandboxOf(
  config: SandboxConfig | undefined,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
): Sandbox | null {
  const mode = modeOf(env) ?? config?.mode ?? 'workspace';
  if (mode === 'off') return null;
  const { write = [], read = [], hide = [], unprotect, hosts = [], sockets = false } = config ?? {};
  return new Sandbox({
    ...{ mode, hosts, sockets, unprotected: unprotect ?? [] },
    write: write.map(placeOf),
    read: read.map(placeOf),
    hidden: [
      ...[env, {}].flatMap((one) => [configFolder(one), dataFolder(one)]),
      ...(ledger?.kind === 'sqlite' ? ['', '-wal', '-shm'].map((end) => ledger.location + end) : []),
      ...hide.map(placeOf),
    ],
  });
}

/** Sandbox and resource limits for commands of agents; the limits also apply without a sandbox. Throws `E_CONFIG`. */
export function commandBounds(
  config: SandboxConfig | undefined,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
): CommandBounds & { readonly limits: CommandLimits } {
  return {
    sandbox: sandboxOf(config, env, ledger),
    limits: config?.limits ?? {},
    unprotected: config?.unprotect ?? [],
  };
}

function modeOf({ COPPICE_SANDBOX: named }: NodeJS.ProcessEnv): Mode | undefined {
  if (!named || SANDBOX_MODES.some((mode) => mode === named)) return (named || undefined) as Mode | undefined;
  throw new CoppiceError('E_CONFIG', `COPPICE_SANDBOX is "${named}": use ${SANDBOX_MODES.join(', ')}`);
}

/**
 * Sandbox for a long-running program: that of commands, extended by what the program needs itself. Null if a person switched it off, for all programs or for
 * this one. Throws `E_CONFIG`; `key` names the program's entry.
 */
export function programSandbox(
  config: SandboxConfig | undefined,
  { sandbox, hosts = [], writable = [], sockets = false }: SandboxNeeds,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
  key: string,
): Sandbox | null {
  const all = {
    ...config,
    hosts: [...(config?.hosts ?? []), ...hosts],
    sockets: config?.sockets === true || sockets,
  };
  const made =
    sandbox === 'off'
      ? null
      : sandboxOf({ ...all, write: [...(config?.write ?? []), ...writable] }, env, ledger);
  const missing = made === null ? undefined : writable.find((path) => !existsSync(meantPath(path)));
  if (missing === undefined) return made;
  throw new CoppiceError('E_CONFIG', `${key} needs to write to ${missing}, which does not exist`, {
    hint: 'Start the program once outside of Coppice, or create that path: the sandbox does not let the program create it',
  });
}

/** Resolves symbolic links, because the sandbox needs the path that a link leads to. */
function placeOf(path: string): string {
  return realPath(meantPath(path));
}
