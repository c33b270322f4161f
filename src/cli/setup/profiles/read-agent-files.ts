import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { containPath, openContained } from '../../../permissions/path-containment.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import type { Profile } from '../../../records/agent/profile.ts';
import { parseAgentFile } from './parse-agent-file.ts';

const FILES_MAX = 100;
const FILE_MAX = 64 * 1024;

/** Flags that open a file without blocking if it is a pipe. */
export const NO_WAIT = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export interface RawAgentFile {
  /** Name within its folder: `reviewer.md`. */
  readonly name: string;
  /** Path for people: `.coppice/agents/reviewer.md`. */
  readonly source: string;
  readonly content: Buffer;
}

export interface RawAgentFiles {
  /** Sorted by name. */
  readonly files: readonly RawAgentFile[];
  /** Notices about files that could not be read, with the reason. */
  readonly notices: readonly string[];
}

export interface AgentFiles {
  readonly profiles: readonly Profile[];
  readonly notices: readonly string[];
}

/**
 * Reads the agent files in `.coppice/agents` of a folder, without parsing them. Each is read once, so that what is shown, hashed and used is the
 * same. Symbolic links may not lead out of `.coppice/agents`. An unreadable file becomes a notice, not an error.
 */
export function readProjectAgentFiles(folder: string): RawAgentFiles {
  let agents: string;
  try {
    const place = containPath(folder, '.coppice/agents');
    if (!place.exists) return { files: [], notices: [] };
    agents = place.absolute;
  } catch (error) {
    return { files: [], notices: [`.coppice/agents is ignored: ${(error as Error).message}`] };
  }
  return readAgentFiles(agents, '.coppice/agents', (name) => openContained(containPath(agents, name)));
}

/** Reads the user's own agent files. Symbolic links may lead anywhere: people keep such files elsewhere. */
export function readUserAgentFiles(agents: string): RawAgentFiles {
  return readAgentFiles(agents, 'agents', (name) => openSync(join(agents, name), NO_WAIT));
}

function readAgentFiles(agents: string, shown: string, open: (name: string) => number): RawAgentFiles {
  const files: RawAgentFile[] = [];
  const notices: string[] = [];
  let names: string[];
  try {
    names = readdirSync(agents).filter((name) => name.endsWith('.md') && name !== '.md');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { files, notices };
    return { files, notices: [`${shown} is ignored: ${reasonOf(error)}`] };
  }
  // Sorts by code unit: the same order, and so the same hash, in every locale.
  names.sort();
  if (names.length > FILES_MAX)
    notices.push(`${shown} has ${names.length} files: only the first ${FILES_MAX} by name are read`);
  for (const name of names.slice(0, FILES_MAX)) {
    const source = printablePath(`${shown}/${name}`);
    try {
      files.push({ name, source, content: readOne(open(name)) });
    } catch (error) {
      notices.push(`${source} is ignored: ${reasonOf(error)}`);
    }
  }
  return { files, notices };
}

/** Reads and closes a file. Throws if it is too large. */
export function readOne(descriptor: number): Buffer {
  try {
    const { content, whole } = readStart(descriptor, FILE_MAX);
    if (!whole) throw new Error(`larger than ${FILE_MAX / 1024} KB`);
    return content;
  } finally {
    closeSync(descriptor);
  }
}

/** Reads up to `most` bytes of a regular file; `whole`: whether that is all of it. Throws for anything but a regular file. */
export function readStart(
  descriptor: number,
  most: number,
): { readonly content: Buffer; readonly whole: boolean } {
  if (!fstatSync(descriptor).isFile()) throw new Error('not a regular file');
  // One byte more than allowed detects a file that is too large, whatever size fstat gave.
  const buffer = Buffer.alloc(most + 1);
  for (let length = 0; ; ) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += read;
    if (read === 0 || length > most)
      return { content: Buffer.from(buffer.subarray(0, Math.min(length, most))), whole: length <= most };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'a dangling symbolic link',
  ELOOP: 'its symbolic links form a cycle',
  ENOTDIR: 'not a folder',
  ENXIO: 'not a regular file',
};

export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : (REASONS[code] ?? code);
}

/** Parses agent files. An invalid file becomes a notice; the others are used. */
export function parseAgentFiles(raw: RawAgentFiles): AgentFiles {
  const profiles = new Map<string, Profile>();
  const notices = [...raw.notices];
  for (const { name, source, content } of raw.files) {
    try {
      const { profile, notices: own } = parseAgentFile(content, name.slice(0, -'.md'.length), source);
      const first = profiles.get(profile.name);
      if (first !== undefined) throw new Error(`${first.source} already has the name ${profile.name}`);
      profiles.set(profile.name, profile);
      notices.push(...own.map((notice) => `${source}: ${notice}`));
    } catch (error) {
      notices.push(`${source} is ignored: ${(error as Error).message}`);
    }
  }
  return { profiles: [...profiles.values()], notices };
}
