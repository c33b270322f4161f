import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

let shell: string | undefined;

/** The bash that is found first on the PATH, else `/bin/sh`. */
export function findShell(): string {
  shell ??= search();
  return shell;
}

function search(): string {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    if (!folder.startsWith('/')) continue;
    const file = join(folder, 'bash');
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return '/bin/sh';
}
