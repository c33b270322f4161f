import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { Trust } from '../../permissions/grants/trust.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { nameHint } from '../../render/nearest-name.ts';
import { readSource, type SavedScript, savedScripts, scriptHash } from './script-places.ts';
import { readMeta, type ScriptMeta } from './script-source.ts';

/** A script as it is now. */
export interface LoadedScript extends SavedScript {
  readonly source: string;
  readonly meta: ScriptMeta;
  /** Hash of the source. */
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
 * Loads a workflow by its name, or the path of its script. Throws `E_SCRIPT`, also for the script of a project that was not accepted as it is now: another one of
 * its name is never taken instead. Who names a path has chosen the file.
 */
export function loadScript(wanted: string, folder: string, { home, accepts }: ScriptTrust): LoadedScript {
  if (/[\\/]|\.m?js$/.test(wanted)) {
    const path = isAbsolute(wanted) ? wanted : resolve(folder, wanted);
    return { ...loaded(readSource(path, wanted)), path, own: true };
  }
  const all = savedScripts(folder, home);
  const saved = all.find(({ name }) => name === wanted);
  if (saved === undefined)
    throw new CoppiceError('E_SCRIPT', `there is no workflow "${wanted}"`, {
      hint: nameHint(
        wanted,
        all.map(({ name }) => name),
        'Workflows',
      ),
    });
  const script = { ...loaded(readSource(saved.path, wanted)), path: saved.path, own: saved.own };
  if (!saved.own && !accepts(saved.path, script.hash))
    throw new CoppiceError(
      'E_SCRIPT',
      `the workflow "${wanted}" of this project is not trusted as it is now`,
      {
        hint: `Read ${saved.path}, then accept it: coppice trust`,
      },
    );
  return script;
}

/** What a script's text is. Throws `E_SCRIPT`. */
export function loaded(source: string): Omit<LoadedScript, 'path' | 'own'> {
  const meta = readMeta(source);
  return { name: meta.name, source, meta, hash: scriptHash(source) };
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
