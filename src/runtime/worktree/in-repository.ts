import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Whether the folder seems to be in a git repository with a commit; git itself decides when a worktree is made. */
export function inRepository(folder: string): boolean {
  const link = join(folder, '.git');
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found === undefined) return dirname(folder) !== folder && inRepository(dirname(folder));
  // In linked worktrees and submodules it is a file.
  return !found.isDirectory() || ['logs/HEAD', 'packed-refs'].some((name) => existsSync(join(link, name)));
}
