import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { Trust } from '../../../permissions/grants/trust.ts';
import { workingFolder } from '../../../processes/working-folder.ts';
import { type ProfilesInput, userFolder } from './profiles.ts';
import { argumentFor } from './trust.ts';

/** Places where instructions and skills are looked for. */
export interface ProjectPlaces {
  /** Canonical path of the working folder. */
  readonly folder: string;
  /** Folder of the user's configuration. */
  readonly own_folder: string;
  readonly home: string;
  readonly trust: Trust;
}

/** A file with instructions, MCP servers or hooks, the script of a workflow, or the folder of a skill. */
export interface ProjectPart {
  readonly kind: 'instructions' | 'skill' | 'servers' | 'workflow' | 'hooks';
  /** Absolute. */
  readonly path: string;
  /** Source for people: a path relative to the working folder, or a note that it is the user's own. */
  readonly source: string;
  readonly hash: string;
  /** `own`: from the user's configuration folder, which needs no trust. */
  readonly trust: 'own' | 'trusted' | 'changed' | 'untrusted';
  /** Description for people. */
  readonly about: string;
}

/** Throws `E_NO_FOLDER`. */
export function projectPlaces(input: ProfilesInput): ProjectPlaces {
  const folder = workingFolder(resolve(input.options.cwd ?? '.'));
  const trust = new Trust(input.data_folder);
  return { folder, own_folder: userFolder(input, folder), home: input.env.HOME ?? homedir(), trust };
}

/** Whether agents may use the part: it is the user's own, or trusted. */
export function isUsed({ trust }: Pick<ProjectPart, 'trust'>): boolean {
  return trust === 'own' || trust === 'trusted';
}

/** Notice about parts that are ignored until the user accepts them; null if there are none. */
export function unusedNotice(parts: readonly ProjectPart[], folder: string): string | null {
  const unused = parts.filter((part) => !isUsed(part));
  if (unused.length === 0) return null;
  const shown = unused.slice(0, 5).map(({ source }) => source);
  const more = unused.length > shown.length ? ` and ${unused.length - shown.length} more` : '';
  const why = unused.some(({ trust }) => trust === 'changed')
    ? 'changed since you trusted it'
    : 'not trusted';
  return `ignored: ${shown.join(', ')}${more} (${why}); look and accept: coppice trust${argumentFor(folder)}`;
}
