import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { workingFolder } from '../../../processes/working-folder.ts';
import { type ProfilesInput, userFolder } from './profiles.ts';
import { argumentFor, Trust } from './trust.ts';

/** Where instructions and skills are looked for. */
export interface ProjectPlaces {
  /** The working folder, canonical. */
  readonly folder: string;
  /** Of the user's configuration. */
  readonly own_folder: string;
  readonly home: string;
  readonly trust: Trust;
}

/** A file with instructions or MCP servers, or the folder of a skill. */
export interface BroughtPart {
  readonly kind: 'instructions' | 'skill' | 'servers';
  /** Absolute. */
  readonly path: string;
  /** For people: relative to the working folder, or that it is the user's own. */
  readonly source: string;
  readonly hash: string;
  /** `own`: of the user's configuration folder, which needs no trust. */
  readonly trust: 'own' | 'trusted' | 'changed' | 'untrusted';
  /** For people: what it is. */
  readonly about: string;
}

/** Throws `E_NO_FOLDER`. */
export function projectPlaces(input: ProfilesInput): ProjectPlaces {
  const folder = workingFolder(resolve(input.options.cwd ?? '.'));
  const trust = new Trust(input.data_folder);
  return { folder, own_folder: userFolder(input, folder), home: input.env.HOME ?? homedir(), trust };
}

/**
 * From the outermost folder to the working folder: up to the root of its git repository; outside of one, as far as below the home folder; elsewhere it
 * alone.
 */
export function projectFolders(folder: string, home: string): string[] {
  const folders: string[] = [];
  for (let current = folder; ; current = dirname(current)) {
    folders.unshift(current);
    const above = dirname(current);
    if (existsSync(join(current, '.git')) || above === home || current === home) return folders;
    if (above === current) return [folder];
  }
}

/** Whether the user lets agents follow it. */
export function isUsed({ trust }: Pick<BroughtPart, 'trust'>): boolean {
  return trust === 'own' || trust === 'trusted';
}

/** One line about what is ignored until the user accepts it; null if there is nothing. */
export function unusedNotice(parts: readonly BroughtPart[], folder: string): string | null {
  const unused = parts.filter((part) => !isUsed(part));
  if (unused.length === 0) return null;
  const shown = unused.slice(0, 5).map(({ source }) => source);
  const more = unused.length > shown.length ? ` and ${unused.length - shown.length} more` : '';
  const why = unused.some(({ trust }) => trust === 'changed')
    ? 'changed since you trusted it'
    : 'not trusted';
  return `ignored: ${shown.join(', ')}${more} (${why}); look and accept: coppice trust${argumentFor(folder)}`;
}
