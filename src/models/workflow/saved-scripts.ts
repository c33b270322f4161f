import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { Trust } from '../../permissions/grants/trust.ts';
import { isScriptPath } from '../../permissions/tool-permission.ts';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import { nameHint } from '../../render/nearest-name.ts';
import type { LoadedWorkflow } from '../workflow-host.ts';
import { readSource, type SavedScript, savedScripts } from './script-places.ts';
import { bodyOf, readMeta, type ScriptMeta } from './script-source.ts';
import { hashOfAll, loadWithin, namesWithin, readWithin, type ScriptWithin } from './scripts-within.ts';

/** A script as it is now. */
export interface LoadedScript extends SavedScript {
  readonly source: string;
  readonly meta: ScriptMeta;
  /** The workflows that it may run. */
  readonly within: readonly ScriptWithin[];
  /** Hash of all that it may execute. */
  readonly hash: string;
}

/** Where scripts are looked for by their names, and whether these contents of a project's script were accepted by the user. */
export interface ScriptTrust {
  readonly home: string;
  readonly accepts: (path: string, hash: string) => boolean;
  /** Trusts a script as it is now. */
  readonly accept: (path: string, hash: string) => void;
}

/** Which workflows of projects were accepted. */
export function scriptTrust(env: NodeJS.ProcessEnv, data_folder: string): ScriptTrust {
  const trust = new Trust(data_folder);
  const accepts = (path: string, hash: string) => trust.stateOf(path, hash) === 'trusted';
  const accept = (path: string, hash: string) => trust.accept(path, hash, Date.now());
  return { home: env.HOME ?? homedir(), accepts, accept };
}

/**
 * Loads a workflow by its name, or the path of its script, with those that it may run. Throws `E_SCRIPT`, also for the script of a project that was not accepted as
 * it is now: another one of its name is never taken instead. Who names a path has chosen the file.
 */
export function loadScript(wanted: string, folder: string, trust: ScriptTrust): LoadedScript {
  if (!isScriptPath(wanted)) {
    const { path, own, source } = accepted(wanted, folder, trust);
    return { ...loaded(source, folder, trust), path, own };
  }
  const path = resolve(folder, wanted);
  return { ...loaded(readSource(path, wanted), folder, trust), path, own: true };
}

function accepted(wanted: string, folder: string, { home, accepts }: ScriptTrust) {
  const all = savedScripts(folder, home);
  const saved = all.find(({ name }) => name === wanted);
  if (saved === undefined) {
    const isCalledSo = ({ name, path }: SavedScript) =>
      orElse(() => readMeta(readSource(path, name)).name === wanted, false);
    const called = all.find(isCalledSo);
    const names = all.map(({ name }) => name);
    throw new CoppiceError('E_SCRIPT', `there is no workflow "${wanted}"`, {
      hint: called
        ? `${called.path} calls itself so: name it ${called.name}, as its file`
        : nameHint(wanted, names, 'Workflows'),
    });
  }
  const source = readSource(saved.path, wanted);
  if (!saved.own && !accepts(saved.path, trustHash(source, folder)))
    throw new CoppiceError(
      'E_SCRIPT',
      `the workflow "${wanted}" of this project is not trusted as it is now`,
      { hint: `Read ${saved.path}, then accept it: coppice trust` },
    );
  return { ...saved, source };
}

/** Hash of what is trusted with a saved script: itself, and those that it names by their paths. Those that it names by name are trusted by themselves. */
export function trustHash(source: string, folder: string): string {
  return hashOfAll(
    source,
    loadWithin(namesIn(source).filter(isScriptPath), (wanted) => termsOf(readWithin(folder, wanted))),
  );
}

/** A workflow that a script names, in the folder of the run. Throws `E_SCRIPT`. */
export function nestedScript(wanted: string, folder: string, trust: ScriptTrust): LoadedWorkflow {
  return isScriptPath(wanted)
    ? termsOf(readWithin(folder, wanted))
    : termsOf(accepted(wanted, folder, trust).source);
}

function termsOf(script: string): LoadedWorkflow {
  const { name, description } = readMeta(script);
  return { name, description, script };
}

function namesIn(source: string): string[] {
  return namesWithin(bodyOf(source));
}

/** What a script's text is, and what it may run in this folder. Throws `E_SCRIPT`. */
export function loaded(
  source: string,
  folder: string,
  trust: ScriptTrust,
): Omit<LoadedScript, 'path' | 'own'> {
  const meta = readMeta(source);
  const saved = new Set(savedScripts(folder, trust.home).map(({ name }) => name));
  const names = namesIn(source).filter((name) => saved.has(name) || isScriptPath(name));
  const within = loadWithin(names, (wanted) => nestedScript(wanted, folder, trust));
  return { name: meta.name, source, meta, within, hash: hashOfAll(source, within) };
}

/** The workflows that a folder can use, each with what it is or why it cannot run. */
export function listedScripts(folder: string, trust: ScriptTrust) {
  return savedScripts(folder, trust.home).map(({ name, path }) => {
    try {
      const { description, when_to_use } = loadScript(name, folder, trust).meta;
      return { name, path, description, when_to_use, error: null };
    } catch (error) {
      return { name, path, description: null, when_to_use: null, error: (error as Error).message };
    }
  });
}
