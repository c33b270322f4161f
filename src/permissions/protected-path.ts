import { selfRunning } from '../processes/sandbox/self-running.ts';

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
