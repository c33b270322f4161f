import { randomUUID } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { delimiter, join } from 'node:path';
import { knownProviders } from '../../models/providers.ts';
import { paint } from '../../render/style.ts';
import { databaseAddress } from '../../store/database-address.ts';
import { assertCreatable } from '../../store/sqlite/open-database.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { loadProfiles } from '../profiles/profiles.ts';
import type { Context } from '../setup/context.ts';
import { ledgerName } from '../setup/ledger-name.ts';
import { reportOf } from '../start/report-error.ts';
import type { Check } from './doctor-check.ts';
import { modelChecks } from './model-checks.ts';
import { serveChecks } from './serve-checks.ts';

/** `coppice doctor`: what is configured, what is missing. Keys are named, never shown. */
export async function doctor(context: Context): Promise<number> {
  const checks = [
    node(),
    configuration(context),
    await database(context),
    ...providers(context),
    ...programs(context),
    ...(await modelChecks(context)),
    folder(context),
    ...(await serveChecks(context)),
    shell(context),
    git(context),
    await ripgrep(),
    await pictures(),
  ];
  const missing = checks.filter((check) => check.needed && !check.ok);
  const healthy = missing.length === 0;
  if (context.json) printJson({ schema: 'coppice/doctor/v1', healthy, checks });
  else {
    for (const { ok, needed, name, text } of checks) {
      const mark = ok
        ? paint(context.out, 'green', 'ok      ')
        : needed
          ? paint(context.out, 'red', 'missing ')
          : paint(context.out, 'dim', '–       ');
      process.stdout.write(`${mark} ${name.padEnd(14)} ${text}\n`);
    }
    process.stdout.write(
      missing.length === 0
        ? 'All that is needed is there.\n'
        : `What is needed and missing: ${[...new Set(missing.map(({ name }) => name.trim()))].join(', ')}.\n`,
    );
  }
  return healthy ? 0 : 1;
}

function node(): Check {
  return { name: 'node', ok: true, needed: true, text: process.version };
}

function configuration({ loaded }: Context): Check {
  return {
    name: 'configuration',
    ok: loaded.file !== null,
    needed: false,
    text: loaded.file ?? 'none; nothing needs one',
  };
}

async function database(context: Context): Promise<Check> {
  try {
    const store = await context.openIfThere();
    if (store === null) {
      const address = databaseAddress(context.database);
      if (address.kind === 'sqlite') assertCreatable(address.path);
      return {
        name: 'database',
        ok: true,
        needed: true,
        text: `none yet at ${ledgerName(context.database)}: what begins first makes it`,
      };
    }
    const text = `${store.kind} at ${store.location}`;
    try {
      await writes(store);
    } finally {
      await store.close();
    }
    return { name: 'database', ok: true, needed: true, text };
  } catch (error) {
    return { name: 'database', ok: false, needed: true, text: reportOf(error).message };
  }
}

/** Enters a worker and takes it away again. */
async function writes(store: Store): Promise<void> {
  const id = randomUUID();
  await store.heartbeat({ id, host: hostname(), pid: process.pid });
  await store.release(id);
}

function providers({ loaded, env }: Context): Check[] {
  return knownProviders(loaded.configuration.providers ?? {}).map(({ name, key_env }) => {
    const set = key_env.find((variable) => (env[variable] ?? '').trim() !== '');
    const text =
      key_env.length === 0
        ? 'wants no key'
        : set === undefined
          ? `${key_env.join(' or ')} is not set`
          : `${set} is set`;
    return { name: `  ${name}`, ok: key_env.length === 0 || set !== undefined, needed: false, text };
  });
}

/** Agent programs over ACP: whether their command is there; they are started when they are first asked. */
function programs({ loaded, env }: Context): Check[] {
  return Object.entries(loaded.configuration.acp ?? {}).map(([name, { command }]) => {
    const found = command.includes('/') ? [command].find(isExecutable) : onPath(command, env);
    return {
      name: `  acp:${name}`,
      ok: found !== undefined,
      needed: true,
      text: found ?? `${command} is not there or cannot be run`,
    };
  });
}

function shell({ env }: Context): Check {
  const found = onPath('bash', env);
  return {
    name: 'bash',
    ok: found !== undefined,
    needed: false,
    text: `${found ?? 'not on PATH; sh is used instead'}; a deny rule on bash is a fence, not a wall`,
  };
}

function git({ env }: Context): Check {
  const found = onPath('git', env);
  return {
    name: 'git',
    ok: found !== undefined,
    needed: false,
    text: found ?? 'not on PATH; agents get no worktrees of their own',
  };
}

/** The folder to work in, and the profiles that count there. */
function folder(context: Context): Check {
  try {
    const { project } = loadProfiles(context);
    return { name: 'folder', ok: true, needed: true, text: project.folder };
  } catch (error) {
    return { name: 'folder', ok: false, needed: true, text: reportOf(error).message };
  }
}

function onPath(command: string, env: NodeJS.ProcessEnv): string | undefined {
  return (env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

async function ripgrep(): Promise<Check> {
  const path = await import('@vscode/ripgrep').then(
    ({ rgPath }) => rgPath,
    () => null,
  );
  const ok = path !== null && isExecutable(path);
  const broken = `${path ?? `ripgrep for ${process.platform}-${process.arch}`} cannot be run: install again`;
  return { name: 'search', ok, needed: true, text: ok ? 'ripgrep comes along' : broken };
}

/** Optional: few agents look at pictures, and sharp weighs more than all the rest. */
async function pictures(): Promise<Check> {
  const ok = await import('sharp').then(
    () => true,
    () => false,
  );
  return {
    name: 'pictures',
    ok,
    needed: false,
    text: ok ? 'sharp is there' : 'read_image needs the package sharp: npm install sharp, beside coppice',
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
