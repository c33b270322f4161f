import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CoppiceError, orElse } from '../records/coppice-error.ts';

/** Returns the canonical path, or the path itself if it cannot be resolved: it may be gone, or exist on another machine only. */
export function realPath(path: string): string {
  return orElse(() => realpathSync.native(path), path);
}

/** The path that is meant by one as written: `~` is the home folder, as in a shell, and a `file:` address is its path. */
export function meantPath(path: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return path.startsWith('file:///') ? orElse(() => fileURLToPath(path), path) : path;
}

/** Returns the canonical path of a folder in which agents are to work. Throws `E_NO_FOLDER`. */
export function workingFolder(folder: string): string {
  try {
    if (!statSync(folder).isDirectory()) throw new CoppiceError('E_NO_FOLDER', `${folder} is not a folder`);
    accessSync(folder, constants.X_OK);
    return realpathSync.native(folder);
  } catch (error) {
    if (error instanceof CoppiceError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const closed = code === 'EACCES' ? `you may not enter the folder ${folder}` : null;
    const fault = code === 'ENOENT' ? `there is no folder ${folder}` : closed;
    throw new CoppiceError('E_NO_FOLDER', fault ?? `the folder ${folder} cannot be used`, { cause: error });
  }
}

/**
 * Returns the folders of a project, from the outermost one down to the working folder. The outermost is the root of the git repository; outside of
 * one, the folder directly below the home folder; outside of both, the working folder alone.
 */
export function projectFolders(folder: string, home: string): string[] {
  const folders: string[] = [];
  for (let current = folder; ; current = dirname(current)) {
    folders.unshift(current);
    const above = dirname(current);
    if (existsSync(join(current, '.git')) || above === home || current === home) return folders;
    if (above === current) return [folder];
  }
}

/** The folder of our `package.json`, above both the sources and the built files, by a folder below it. */
export function packageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'docs'))) return folder;
  const above = dirname(folder);
  return above === folder ? folder : packageRoot(above);
}
