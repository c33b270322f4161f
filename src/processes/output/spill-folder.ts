import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TIMEOUT_MAX_SECONDS } from '../limits/command-budget.ts';

/** Maximum bytes of the spill files of one tree, and of all trees; beyond that the oldest are removed. */
export const TREE_BYTES = 128 * 1024 * 1024;
export const TOTAL_BYTES = 2 * 1024 * 1024 * 1024;

/** Folder for output that does not fit a result. Each tree has a subfolder, and reads no other. */
export function spillFolder(spill_dir: string): string {
  return join(spill_dir, 'trees');
}

export function treeOutput(spill_dir: string, root_id: string): string {
  return join(spillFolder(spill_dir), root_id);
}

export function worktreeFolder(spill_dir: string): string {
  return join(spill_dir, 'worktrees');
}

/** Folder within a tree's output folder that its sandboxed commands see as /tmp; kept between calls, and removed as a whole when it is old. */
export const TREE_TMP = 'tmp';

/** Suffix of a file that is still being written and must not be removed to make room. */
export const OPEN = '.open';

interface Spilled {
  readonly path: string;
  readonly bytes: number;
  readonly written_at: number;
}

export interface RemovedOutput {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Removes spilled output of all trees below `folder`: files and TREE_TMP folders written before `before` (milliseconds), and the oldest
 * files beyond `keep_bytes` in total. Files that are still being written stay; files that another process removes meanwhile are no error.
 */
export async function removeSpilledOutput(
  folder: string,
  { before = 0, keep_bytes = Number.POSITIVE_INFINITY, dry_run = false },
): Promise<RemovedOutput> {
  const all = (await spilledIn(folder)).sort((one, other) => one.written_at - other.written_at);
  let left = all.reduce((sum, { bytes }) => sum + bytes, 0);
  // No command runs longer: an older open file was left behind by a process that died.
  const dead = Date.now() - 1000 * TIMEOUT_MAX_SECONDS;
  let [files, removed] = [0, 0];
  for (const { path, bytes, written_at } of all) {
    if (written_at >= before && left <= keep_bytes) break;
    if (path.endsWith(OPEN) && written_at >= dead) continue;
    if (basename(path) === TREE_TMP && written_at >= before) continue;
    if (!dry_run) {
      await rm(path, { force: true, recursive: true });
      await rmdir(dirname(path)).catch(() => undefined); // not empty yet
    }
    left -= bytes;
    files += 1;
    removed += bytes;
  }
  return { files, bytes: removed };
}

async function spilledIn(folder: string): Promise<Spilled[]> {
  const trees = await readdir(folder).catch(() => []);
  const found: Spilled[] = [];
  for (const tree of trees)
    for (const name of await readdir(join(folder, tree)).catch(() => [])) {
      const path = join(folder, tree, name);
      const status = await stat(path).catch(() => undefined);
      if (status === undefined || !(status.isFile() || name === TREE_TMP)) continue;
      found.push({ path, bytes: status.isFile() ? status.size : 0, written_at: status.mtimeMs });
    }
  return found;
}
