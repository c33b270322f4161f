import { readFileSync, realpathSync, statSync } from 'node:fs';
import { replaceFile } from '../../../permissions/replace-file.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { configFile } from '../../../settings/folders.ts';
import { keyFile, readKeys } from '../../../settings/key-file.ts';
import type { Found } from './try-model.ts';

/** Writes what was found: keys to the file of keys, everything else to the configuration, whose other entries stay. Returns the files that were written. */
export function writeSetup(found: Found, named: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const { file } = configFile(named, env);
  const before = objectOf(file);
  const { providers } = before as { readonly providers?: object };
  const configuration = {
    ...before,
    model: found.model,
    ...(Object.keys(found.providers).length === 0 ? {} : { providers: { ...providers, ...found.providers } }),
  };
  const written: string[] = [];
  if (Object.keys(found.keys).length > 0) {
    replace(keyFile(env), { ...readKeys(env), ...found.keys }, 0o600);
    written.push(keyFile(env));
  }
  replace(file, configuration, modeOf(file));
  return [...written, file];
}

function objectOf(file: string): object {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as object;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

function modeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600;
}

/** Whoever reads the file meanwhile gets the old or the new one. A link stays one. */
function replace(file: string, content: object, mode: number): void {
  try {
    const exists = statSync(file, { throwIfNoEntry: false }) !== undefined;
    replaceFile(exists ? realpathSync(file) : file, `${JSON.stringify(content, null, 2)}\n`, mode & 0o777);
  } catch (error) {
    throw new CoppiceError('E_CONFIG', `${file} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
