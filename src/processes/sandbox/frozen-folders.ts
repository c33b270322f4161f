import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from './governing.ts';

/** What is mounted at one place. */
export interface Mount {
  readonly path: string;
  readonly args: readonly string[];
}

/** Have a mount of their own, or hold nothing else. */
const NOT_FROZEN = ['/tmp', '/dev', '/proc', '/sys'];
/** In all folders together: each is a mount, and bubblewrap looks at all mounts for each. */
const ENTRIES_MAX = 1500;

/**
 * Folders that hold secrets, as they are now and without them: what is mounted over a file is gone once somebody replaces that file, and secrets that
 * are made later would be seen. `hidden`: canonical, and there; `opened`: folders that stay as they are. To be made read-only when everything is
 * mounted.
 */
export function frozenFolders(
  secrets: readonly string[],
  hidden: readonly string[],
  opened: readonly string[],
): { readonly folders: readonly string[]; readonly mounts: readonly Mount[] } {
  const around = [...new Set(secrets.map(nearestFolder))].sort();
  const folders = around.filter(
    (folder) =>
      folder !== '/' &&
      ![...NOT_FROZEN, ...opened].some((one) => isInside(folder, one)) &&
      !hidden.some((one) => isInside(folder, one)),
  );
  const entries = folders.reduce((sum, folder) => sum + readdirSync(folder).length, 0);
  if (entries > ENTRIES_MAX) return { folders: [], mounts: [] };
  const mounts = folders.flatMap((folder) => [
    { path: folder, args: ['--tmpfs', folder] },
    ...readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (hidden.includes(path) || folders.includes(path)) return [];
      const args = entry.isSymbolicLink()
        ? ['--symlink', readlinkSync(path), path]
        : ['--ro-bind-try', path, path];
      return [{ path, args }];
    }),
  ]);
  return { folders, mounts };
}

/** Canonical: the folder that holds it, or would hold what leads to it. */
export function nearestFolder(path: string): string {
  const folder = dirname(path);
  try {
    const found = realpathSync(folder);
    readdirSync(found);
    return found;
  } catch {
    return folder === '/' ? '/' : nearestFolder(folder);
  }
}
