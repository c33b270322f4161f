import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorJson } from '../../documents/error-json.ts';
import { probeKey } from '../../models/provider/probe-key.ts';
import { knownProviders } from '../../models/providers.ts';
import { isExecutable, programPlaces } from '../../processes/find-shell.ts';
import { sandboxGap } from '../../processes/sandbox/sandbox-support.ts';
import { clean } from '../../render/clean.ts';
import { agentPrograms } from '../../settings/agent-programs.ts';
import { sandboxOf } from '../../settings/sandbox-of.ts';
import { ledgerName } from '../../settings/suggested-command.ts';
import { databaseAddress } from '../../store/database-address.ts';
import { damageOf } from '../../store/sqlite/ledger-file.ts';
import { assertCreatable } from '../../store/sqlite/open-database.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../setup/context.ts';
import { loadProfiles } from '../setup/profiles/profiles.ts';
import { loadProjectParts } from '../setup/profiles/project-parts.ts';
import { isUsed } from '../setup/profiles/project-places.ts';

/** Larger ledgers are not read for damage, which takes 0.4 s for 1 GB in memory, and as long as the disk takes for the rest. */
const READ_BYTES = 4_000_000_000;

const PROBE_MS = 4_000;

const ROOT =
  'you are root: what runs outside of the sandbox can do anything to this machine, commands in it read what only root may, and the kernel does not enforce the limit on processes; use a user of its own';

/** One line of `coppice doctor`. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** False if the checked part is optional. */
  readonly needed: boolean;
  readonly text: string;
}

export const needed = (name: string, ok: boolean, text: string): Check => ({ name, ok, needed: true, text });
export const optional = (name: string, ok: boolean, text: string): Check => ({
  ...needed(name, ok, text),
  needed: false,
});

/** Checks Node, the configuration, the ledger, keys of providers, agent programs and MCP servers. */
export async function machineChecks(context: Context, opened: Store | string | null): Promise<Check[]> {
  return [
    needed('node', true, process.version),
    optional('user', process.getuid?.() !== 0, process.getuid?.() === 0 ? ROOT : 'not root'),
    configuration(context),
    await database(context, opened),
    ...(await providers(context)),
    ...(await programs(context)),
    ...(await servers(context)),
  ];
}

/** Checks the sandbox, and programs and packages that tools use. */
export async function toolChecks(context: Context): Promise<Check[]> {
  const shell = program('bash', context, 'sh is used instead');
  const git = program('git', context, 'agents get no worktrees of their own');
  return [shell, await sandbox(context), git, await ripgrep(), await pictures()];
}

function configuration({ loaded }: Context): Check {
  return optional('configuration', loaded.file !== null, loaded.file ?? 'none; optional');
}

/** `store`: null if there is no ledger yet, or why it cannot be opened. */
async function database(context: Context, store: Store | string | null): Promise<Check> {
  if (typeof store === 'string') return needed('database', false, store);
  try {
    if (store === null) {
      const address = databaseAddress(context.database);
      if (address.kind === 'sqlite') assertCreatable(address.path);
      return needed('database', true, `none yet at ${ledgerName(context.database)}: created at first use`);
    }
    await writes(store);
    return store.kind === 'sqlite' ? pages(store) : needed('database', true, `postgres at ${store.location}`);
  } catch (error) {
    return needed('database', false, errorJson(error).message);
  }
}

/** Looks for damaged pages of a SQLite ledger. */
function pages({ location: file }: Store): Check {
  const named = (ok: boolean, text: string) => needed('database', ok, `sqlite at ${file}${text}`);
  if (statSync(file).size > READ_BYTES)
    return named(true, `; not looked for damage, because it is large: sqlite3 ${file} "PRAGMA quick_check"`);
  const damage = damageOf(file);
  if (damage === null) return named(true, ', undamaged');
  const save = `sqlite3 ${file} .recover | sqlite3 NEW`;
  return named(
    false,
    ` is damaged (${damage}): stop all that use it, then restore a backup, or save what can be read: ${save}`,
  );
}

/** Proves that the ledger can be written: registers a worker and removes it again. */
async function writes(store: Store): Promise<void> {
  const id = randomUUID();
  await store.heartbeat({ id, host: hostname(), pid: process.pid });
  await store.release(id);
}

/** Checks keys; asks a provider only where somebody has to run it: without a key, or at an address of the configuration. */
function providers({ loaded, env }: Context): Promise<Check[]> {
  const configured = loaded.configuration.providers ?? {};
  const all = knownProviders(configured).map(async ({ name, key_env }) => {
    const set = key_env.find((variable) => (env[variable] ?? '').trim() !== '');
    const text =
      key_env.length === 0
        ? 'needs no key'
        : set === undefined
          ? `${key_env.join(' or ')} is not set`
          : `${set} is set`;
    const usable = key_env.length === 0 || set !== undefined;
    const asked = usable && (key_env.length === 0 || configured[name]?.baseURL !== undefined);
    const probe = asked ? await probeKey(name, { providers: configured, env }) : null;
    return optional(`  ${name}`, probe?.ok ?? usable, probe === null ? text : `${text}; ${probe.text}`);
  });
  return Promise.all(all);
}

/** Checks agent programs over ACP: only whether the command can be run, and what its sandbox allows. */
function programs({ loaded: { configuration }, env }: Context): Promise<Check[]> {
  const { programs, sandboxFor } = agentPrograms(configuration, env, null);
  return Promise.all(
    Object.entries(programs).map(async ([name, config]) => {
      const check = (ok: boolean, text: string) => needed(`  acp:${name}`, ok, text);
      const { command } = config;
      const found = onPath(command, env);
      if (found === undefined) return check(false, `${command} was not found or is not executable`);
      try {
        const allowed = await sandboxFor(name, config);
        if (allowed === null) return check(true, `${found}, not sandboxed: it has all your rights`);
        const { hosts, write } = allowed.settings;
        const reaches = hosts.length === 0 ? 'no network' : hosts.join(', ');
        const writes = ['its folder', ...write].join(', ');
        return check(true, `${found}, sandboxed: reaches ${reaches}; writes in ${writes}`);
      } catch (error) {
        const { message, hint } = errorJson(error);
        return check(false, hint === null ? message : `${message}. ${hint}`);
      }
    }),
  );
}

/** Checks MCP servers: only whether the command can be run, or something answers at the address. Optional, because agents work without them. */
function servers({ loaded: { configuration }, env }: Context): Promise<Check[]> {
  const all = Object.entries(configuration.mcp?.servers ?? {}).map(async ([name, { command = '', url }]) => {
    const found = onPath(command, env);
    const fault = url === undefined ? null : await silence(url);
    const text = url ?? found ?? `${command} was not found or is not executable`;
    const ok = url === undefined ? found !== undefined : fault === null;
    return optional(`  mcp:${name}`, ok, fault === null ? text : `${text} is unreachable (${fault})`);
  });
  return Promise.all(all);
}

/** Returns why nothing answers at the address; null if anything does, even an error. */
async function silence(url: string): Promise<string | null> {
  try {
    await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) });
    return null;
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    return code ?? `no answer within ${PROBE_MS / 1000} s`;
  }
}

/** A program that tools use if it is there. */
function program(name: string, { env }: Context, otherwise: string): Check {
  const found = onPath(name, env);
  return optional(name, found !== undefined, found ?? `not on PATH; ${otherwise}`);
}

/** Checks whether the commands of agents run in a sandbox. */
async function sandbox({ loaded, env }: Context): Promise<Check> {
  const configured = sandboxOf(loaded.configuration.sandbox, env, null);
  if (configured === null)
    return optional(
      'sandbox',
      false,
      'off: commands of agents have all your rights; a deny rule on bash is not a security boundary',
    );
  const problem = await configured.problem();
  const gap = problem === null ? await sandboxGap() : null;
  const text = [`${configured.settings.mode}: commands of agents are sandboxed`, gap];
  return needed('sandbox', problem === null, problem ?? text.filter(Boolean).join(', '));
}

export function folderCheck(context: Context): Check {
  try {
    const { project } = loadProfiles(context);
    return needed('folder', true, project.folder);
  } catch (error) {
    return needed('folder', false, errorJson(error).message);
  }
}

/** Lists the files for agents (instructions, skills, MCP servers), and whether each is trusted. */
export function broughtChecks(context: Context): Check[] {
  try {
    const { parts, faults } = loadProjectParts(context);
    const found = parts.map((part) => {
      const state = {
        own: 'used',
        trusted: 'trusted',
        changed: 'changed since you trusted it',
        untrusted: 'not trusted',
      }[part.trust];
      return optional(part.kind, isUsed(part), clean(`${part.source}: ${state}; ${part.about}`));
    });
    const checks = [...found, ...faults.map((fault) => optional('instructions', false, clean(fault)))];
    return checks.length === 0 ? [optional('instructions', false, 'none for agents in this folder')] : checks;
  } catch {
    // The check of the folder reports that it cannot be used.
    return [];
  }
}

function onPath(command: string, env: NodeJS.ProcessEnv): string | undefined {
  return programPlaces(command, env.PATH ?? '').find(isExecutable);
}

async function ripgrep(): Promise<Check> {
  const path = await import('@vscode/ripgrep').then(
    ({ rgPath }) => rgPath,
    () => null,
  );
  const ok = path !== null && isExecutable(path);
  const broken = `${path ?? `ripgrep for ${process.platform}-${process.arch}`} cannot be run: install again`;
  return needed('search', ok, ok ? 'ripgrep is included' : broken);
}

/** Optional: few agents read images, and sharp is larger than all other packages together. */
async function pictures(): Promise<Check> {
  const ok = await import('sharp').then(
    () => true,
    () => false,
  );
  return optional(
    'pictures',
    ok,
    ok
      ? 'sharp is installed'
      : 'read_image needs the package sharp: npm install sharp, where coppice is installed',
  );
}
