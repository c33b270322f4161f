import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { worktreeFolder } from '../processes/output/spill-folder.ts';
import { selfRunning } from '../processes/sandbox/self-running.ts';
import { isInside } from './path-containment.ts';

/**
 * Folders whose files control what runs outside the tools: the runtime's settings, git's hooks and
 * configuration. Tools never write there, regardless of the policy: an agent that writes a settings file
 * could give itself permissions (compare CVE-2026-25725).
 */
const protectedNames = new Set(['.coppice', '.git']);

/** Locations of the runtime's ledger, list of trusted folders and configuration, which an agent that works in a home folder could reach. */
const protectedPaths = [
  '.config/coppice',
  '.local/share/coppice',
  'library/application support/coppice',
  'appdata/roaming/coppice',
  'appdata/local/coppice',
];

/** File with API keys in the settings folder; tools may not even read it. */
export const KEY_FILE = 'keys.json';

/** Characters that some file systems ignore when they compare names. */
const ignored = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * The protected part of a canonical path relative to the workspace (`.git` in `sub/.git/hooks/pre-commit`), or
 * undefined. Compares like a case-insensitive file system.
 */
export function protectedPart(relative_path: string): string | undefined {
  const parts = relative_path.split(/[/\\]/);
  const plain = parts.map(plainName);
  const at = plain.findIndex((part) => protectedNames.has(part) || part === 'git~1');
  if (at >= 0) return parts[at];
  const whole = `/${plain.join('/')}/`;
  return protectedPaths.find((path) => whole.includes(`/${path}/`));
}

/** The part of a path relative to the workspace that editors or tools run by themselves (docs/sandbox.md), also in a folder below, or undefined. */
export function selfRunningPart(relative_path: string, unprotected: readonly string[]): string | undefined {
  const whole = `/${relative_path.split(/[/\\]/).map(plainName).join('/')}/`;
  return selfRunning(unprotected).find((place) => whole.includes(`/${place.toLowerCase()}/`));
}

function plainName(part: string): string {
  return part
    .normalize('NFKC')
    .replace(ignored, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}

/** Shown in refusals in place of a rule. */
const SETTINGS = 'that settings are protected: no tool may write there';
const KEYS = 'that keys are protected: no tool may read them';
const SELF_RUNNING =
  'that editors or tools run this file by themselves: only with "sandbox.unprotect" in the configuration may tools write it';
const LEDGER = 'that the ledger is protected: no tool may write there';

export interface ProtectedContext {
  readonly store: { readonly kind: string; readonly location: string };
  /** Files and folders with settings of this program, existing or not. */
  readonly settings?: readonly string[];
  readonly spill_dir: string;
  /** `unprotected`: what runs by itself in the agent's folder, and may be written all the same. */
  readonly bounds?: { readonly unprotected?: readonly string[] };
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
  const worktrees = resolveExistingPart(worktreeFolder(spill_dir));
  // Worktrees are in the data folder, but agents may write to them.
  const in_worktree = isWithin(worktrees, resolveExistingPart(cwd));
  if (!in_worktree && protectedPart(absolute) !== undefined) return SETTINGS;
  if (selfRunningPart(relative(resolveExistingPart(cwd), absolute), bounds?.unprotected ?? []))
    return SELF_RUNNING;
  for (const place of settings.map(resolveExistingPart))
    if (isWithin(place, absolute) && !(in_worktree && isWithin(place, worktrees))) return SETTINGS;
  if (store.kind !== 'sqlite') return undefined;
  const ledger = resolveExistingPart(store.location);
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
  return settings.some((place) => isWithin(resolveExistingPart(join(place, KEY_FILE)), absolute))
    ? KEYS
    : undefined;
}

/** Ignores case, as some file systems do. */
function isWithin(folder: string, path: string): boolean {
  return isInside(folder.toLowerCase(), path.toLowerCase());
}

function resolveExistingPart(path: string): string {
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
