import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { CoppiceError } from '../../core/coppice-error.ts';
import { knownProviders } from '../../models/providers.ts';
import { paint } from '../../render/style.ts';
import { printJson } from '../agent-json.ts';
import { chooseModel } from '../choose-model.ts';
import type { Context } from '../context.ts';
import type { Check } from '../doctor-check.ts';
import { ledgerName } from '../ledger-name.ts';
import { reportOf } from '../report-error.ts';
import { serveChecks } from '../serve-checks.ts';

/** `coppice doctor`: what is configured, what is missing. Keys are named, never shown. */
export async function doctor(context: Context): Promise<number> {
  const checks = [
    node(),
    configuration(context),
    await database(context),
    ...providers(context),
    ...programs(context),
    model(context),
    ...(await serveChecks(context)),
    shell(context),
    ripgrep(),
  ];
  const healthy = checks.every((check) => check.ok || !check.needed);
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
      healthy ? 'All that is needed is there.\n' : 'Something that is needed is missing.\n',
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
    if (store === null)
      return {
        name: 'database',
        ok: true,
        needed: true,
        text: `none yet at ${ledgerName(context.database)}: what begins first makes it`,
      };
    const text = `${store.kind} at ${store.location}`;
    await store.close();
    return { name: 'database', ok: true, needed: true, text };
  } catch (error) {
    return { name: 'database', ok: false, needed: true, text: reportOf(error).message };
  }
}

function providers({ loaded, env }: Context): Check[] {
  return knownProviders(loaded.configuration.providers ?? {}).map(({ name, key_env }) => {
    const set = key_env.find((variable) => (env[variable] ?? '') !== '');
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
    const places = command.includes('/')
      ? [command]
      : (env.PATH ?? '').split(delimiter).map((folder) => join(folder, command));
    const found = places.find(isExecutable);
    return {
      name: `  acp:${name}`,
      ok: found !== undefined,
      needed: false,
      text: found ?? `${command} is not there or cannot be run`,
    };
  });
}

function model(context: Context): Check {
  try {
    return { name: 'model', ok: true, needed: false, text: chooseModel(context) };
  } catch (error) {
    if (!(error instanceof CoppiceError)) throw error;
    return {
      name: 'model',
      ok: false,
      needed: false,
      text: 'none chosen and no key found; coppice demo works without',
    };
  }
}

function shell({ env }: Context): Check {
  const found = (env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'bash'))
    .find(isExecutable);
  return {
    name: 'bash',
    ok: found !== undefined,
    needed: false,
    text: `${found ?? 'not on PATH; sh is used instead'}; a deny rule on bash is a fence, not a wall`,
  };
}

function ripgrep(): Check {
  return {
    name: 'search',
    ok: isExecutable(rgPath),
    needed: true,
    text: isExecutable(rgPath) ? 'ripgrep comes along' : `${rgPath} cannot be run: install again`,
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
