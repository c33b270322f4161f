import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { LentPlaces } from '../../models/model-host.ts';
import { isInside } from '../../permissions/path-containment.ts';
import { KEY_FILE, protectedPart, selfRunningPart } from '../../permissions/protected-path.ts';
import type { Store } from '../../store/store.ts';
import { worktreeFolder } from '../worktree/git-worktree.ts';

/** Shown in refusals in place of a rule. */
const SETTINGS = 'that settings are protected: no tool may write there';
const KEYS = 'that keys are protected: no tool may read them';
const SELF_RUNNING =
  'that editors or tools run this file by themselves: only with "sandbox.unprotect" in the configuration may tools write it';
const LEDGER = 'that the ledger is protected: no tool may write there';

export interface ProtectedContext {
  readonly store: Pick<Store, 'kind' | 'location'>;
  /** Files and folders with settings of this program, existing or not. */
  readonly settings?: readonly string[];
  readonly spill_dir: string;
  /** `unprotected`: what runs by itself in the agent's folder, and may be written all the same. */
  readonly bounds?: { readonly unprotected?: readonly string[] };
}

/** The checks below, for the host of an agent program. */
export function lentPlaces(context: ProtectedContext & Pick<LentPlaces, 'env_allow'>): LentPlaces {
  return {
    env_allow: context.env_allow,
    spill_dir: context.spill_dir,
    protectedPlace: (absolute, cwd) => protectedPlace(absolute, cwd, context),
    unreadablePlace: (path, cwd) => unreadablePlace(path, cwd, context),
  };
}

/**
 * Returns why no tool may write to this canonical path; undefined if tools may. Settings and the
 * ledger are protected wherever the agent's folder is, and before the files exist.
 */
export function protectedPlace(
  absolute: string,
  cwd: string,
  { store, settings = [], spill_dir, bounds }: ProtectedContext,
): string | undefined {
  const worktrees = canonical(worktreeFolder(spill_dir));
  // Worktrees are in the data folder, but agents may write to them.
  const in_worktree = isWithin(worktrees, canonical(cwd));
  if (!in_worktree && protectedPart(absolute) !== undefined) return SETTINGS;
  if (selfRunningPart(relative(canonical(cwd), absolute), bounds?.unprotected ?? [])) return SELF_RUNNING;
  for (const place of settings.map(canonical))
    if (isWithin(place, absolute) && !(in_worktree && isWithin(place, worktrees))) return SETTINGS;
  if (store.kind !== 'sqlite') return undefined;
  const ledger = canonical(store.location);
  return absolute === ledger || absolute.startsWith(`${ledger}-`) ? LEDGER : undefined;
}

/** Returns why no tool may read this canonical path, absolute or relative to the folder; undefined if tools may. */
export function unreadablePlace(
  path: string,
  cwd: string,
  { settings = [] }: ProtectedContext,
): string | undefined {
  // Fast path: called for every file of a search, and almost none has this name.
  if (basename(path).toLowerCase() !== KEY_FILE) return undefined;
  const absolute = resolve(realpathSync(cwd), path);
  return settings.some((place) => isWithin(canonical(join(place, KEY_FILE)), absolute)) ? KEYS : undefined;
}

/** Ignores case, as some file systems do. */
function isWithin(folder: string, path: string): boolean {
  return isInside(folder.toLowerCase(), path.toLowerCase());
}

/** Resolves links in the part of the path that exists. */
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
