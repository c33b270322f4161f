import { openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { containPath, openContained } from '../../../permissions/path-containment.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import type { Profile } from '../../../records/agent/profile.ts';
import { NO_WAIT, readOne, reasonOf } from '../../../tools/files/bounded-file.ts';
import { parseAgentFile } from './parse-agent-file.ts';

const FILES_MAX = 100;

export interface RawAgentFile {
  /** Name within its folder: `reviewer.md`. */
  readonly name: string;
  /** Path for people: `.coppice/agents/reviewer.md`. */
  readonly source: string;
  readonly content: Buffer;
}

/** Files of one kind. */
export interface FoundFiles<File> {
  readonly files: readonly File[];
  /** Notices about what could not be read, with the reason. */
  readonly notices: readonly string[];
}

export interface AgentFiles {
  readonly profiles: readonly Profile[];
  readonly notices: readonly string[];
}

/**
 * Reads the agent files in `.coppice/agents` of a folder, sorted by name, without parsing them. Each is read once, so that what is shown, hashed and used is the
 * same. Symbolic links may not lead out of `.coppice/agents`. An unreadable file becomes a notice, not an error.
 */
export function readProjectAgentFiles(folder: string): FoundFiles<RawAgentFile> {
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

/** Reads the user's own agent files, sorted by name. Symbolic links may lead anywhere: people keep such files elsewhere. */
export function readUserAgentFiles(agents: string): FoundFiles<RawAgentFile> {
  return readAgentFiles(agents, 'agents', (name) => openSync(join(agents, name), NO_WAIT));
}

function readAgentFiles(
  agents: string,
  shown: string,
  open: (name: string) => number,
): FoundFiles<RawAgentFile> {
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

/** Parses agent files. An invalid file becomes a notice; the others are used. */
export function parseAgentFiles(raw: FoundFiles<RawAgentFile>): AgentFiles {
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
