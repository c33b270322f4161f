import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from './governing.ts';

/** A mount point with its bubblewrap arguments. */
export interface Mount {
  readonly path: string;
  readonly args: readonly string[];
}

/** Folders that have a mount of their own, or hold no secrets. */
const NOT_FROZEN = ['/tmp', '/dev', '/proc', '/sys'];
/** Maximum entries of all frozen folders together: each becomes a mount, and bubblewrap reads all mounts for each. */
const ENTRIES_MAX = 1500;

/**
 * Snapshots of the folders that hold secrets, without the secrets: a mount over a single file is lost when somebody replaces the file, and secrets created
 * later would be visible. `hidden`: existing canonical paths; `opened`: folders to leave as they are. The caller makes the folders read-only once everything
 * is mounted. Empty if they have too many entries.
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

/** Returns the canonical path of the nearest existing, readable folder above `path`. */
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
