import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { protectedPart } from '../../permissions/protected-path.ts';
import type { Store } from '../../store/store.ts';
import { worktreeFolder } from '../worktree/git-worktree.ts';

/** They stand where a rule is named. */
const SETTINGS = 'that settings are protected: no tool may write there';
const LEDGER = 'that the ledger is protected: no tool may write there';

export interface ProtectedContext {
  readonly store: Pick<Store, 'kind' | 'location'>;
  /** Files and folders with settings of this program, whether they are there or not. */
  readonly settings?: readonly string[];
  readonly spill_dir: string;
}

/**
 * Why no tool that writes may touch this place (canonical), in a few words; undefined where it may. Protected is what is
 * a setting or a ledger, wherever the agent's folder lies and before the file exists.
 */
export function protectedPlace(
  absolute: string,
  cwd: string,
  { store, settings = [], spill_dir }: ProtectedContext,
): string | undefined {
  const worktrees = canonical(worktreeFolder(spill_dir));
  // A worktree lies in the data folder, and is there to be written.
  const in_worktree = isInside(worktrees, canonical(cwd));
  if (!in_worktree && protectedPart(absolute) !== undefined) return SETTINGS;
  for (const place of settings.map(canonical))
    if (isInside(place, absolute) && !(in_worktree && isInside(place, worktrees))) return SETTINGS;
  if (store.kind !== 'sqlite') return undefined;
  const ledger = canonical(store.location);
  return absolute === ledger || absolute.startsWith(`${ledger}-`) ? LEDGER : undefined;
}

/** Compares as a file system would that knows no case. */
function isInside(folder: string, path: string): boolean {
  const [outer, inner] = [folder.toLowerCase(), path.toLowerCase()];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

/** All links followed in the part that exists. */
function canonical(path: string): string {
  const asked = resolve(path);
  const missing: string[] = [];
  for (let current = asked; ; current = dirname(current)) {
    try {
      return join(realpathSync.native(current), ...missing);
    } catch {
      if (dirname(current) === current) return asked;
      missing.unshift(basename(current));
    }
  }
}
