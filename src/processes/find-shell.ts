import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { orElse } from '../records/coppice-error.ts';

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
  shell ??=
    programPlaces('bash', process.env.PATH ?? '')
      .filter(isAbsolute)
      .find(isExecutable) ?? '/bin/sh';
  return shell;
}

/** Where the system looks for a program: a name with a slash is a path, any other is looked for in the folders of PATH. */
export function programPlaces(file: string, path: string): readonly string[] {
  return file.includes('/') ? [file] : path.split(delimiter).map((folder) => join(folder, file));
}

export function isExecutable(path: string): boolean {
  return orElse(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  }, false);
}
