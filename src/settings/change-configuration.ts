import { readFileSync, realpathSync, statSync } from 'node:fs';
import { replaceFile } from '../permissions/replace-file.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { configFile } from './folders.ts';

type Content = Readonly<Record<string, unknown>>;

/** Writes the changed configuration file, or a new one that only the user can read; returns its path. Throws `E_CONFIG` if it cannot be written. */
export function changeConfiguration(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  change: (before: Content) => Content,
): string {
  const { file } = configFile(named, env);
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600;
  replaceJson(file, change(objectOf(file)), mode);
  return file;
}

/** Replaces the file atomically: a concurrent reader gets the old or the new content. A symbolic link is kept. Throws `E_CONFIG`. */
export function replaceJson(file: string, content: object, mode: number): void {
  try {
    const exists = statSync(file, { throwIfNoEntry: false }) !== undefined;
    replaceFile(exists ? realpathSync(file) : file, `${JSON.stringify(content, null, 2)}\n`, mode & 0o777);
  } catch (error) {
    throw new CoppiceError('E_CONFIG', `${file} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function objectOf(file: string): Content {
  try {
    return JSON.parse(new TextDecoder().decode(readFileSync(file))) as Content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CoppiceError('E_CONFIG', `${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
