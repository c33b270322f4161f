import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

let shell: string | undefined;

/**
 * Arguments that make the shell run a command. Both outputs go through one pipe, because two would lose the order of what was written.
 * `eval` keeps line numbers in the shell's messages as the model wrote them; `set --` hides the argument that carries the command.
 */
export function shellArguments(command: string): readonly string[] {
  return ['-c', 'exec 2>&1; eval "set --;$1"', 'bash', command];
}

/** The first bash on the PATH, else `/bin/sh`. */
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
