import { resolve } from 'node:path';
import { Trust } from '../../../permissions/grants/trust.ts';
import { counted } from '../../../records/text/text.ts';
import { shellWord } from '../../../settings/suggested-command.ts';
import { hashFiles } from '../../../tools/files/skill-folder.ts';
import { type FoundFiles, type RawAgentFile, readProjectAgentFiles } from './read-agent-files.ts';

/** The agent files of a folder, and whether the user accepted them. */
export interface ProjectAgents {
  /** Absolute. */
  readonly folder: string;
  readonly raw: FoundFiles<RawAgentFile>;
  readonly hash: string;
  /** `changed`: accepted before, with other contents. `nothing`: the folder has no agent files. */
  readonly trust: 'trusted' | 'changed' | 'untrusted' | 'nothing';
  /** ISO time of the newest acceptance, whatever the contents were. */
  readonly trusted_at: string | null;
}

/** Reads `.coppice/agents` of a folder and whether it is trusted. The folder must exist. */
export function readProjectAgents(folder: string, data_folder: string): ProjectAgents {
  const raw = readProjectAgentFiles(folder);
  const hash = hashFiles(raw.files);
  const trust = new Trust(data_folder);
  return {
    folder: resolve(folder),
    raw,
    hash,
    trust: raw.files.length === 0 ? 'nothing' : trust.stateOf(folder, hash),
    trusted_at: trust.of(folder)?.trusted_at ?? null,
  };
}

/** Notice about files that are ignored until the user accepts them; null if there are none. */
export function untrustedNotice(project: ProjectAgents): string | null {
  const { trust, folder, raw } = project;
  if (trust !== 'untrusted' && trust !== 'changed') return null;
  const count = counted(raw.files.length, 'agent file');
  const why = trust === 'changed' ? 'changed since this folder was trusted' : 'this folder is not trusted';
  return `ignored: ${count} in .coppice/agents (${why}); look and accept: coppice trust${argumentFor(folder)}`;
}

export function argumentFor(folder: string): string {
  return folder === resolve('.') ? '' : ` ${shellWord(folder)}`;
}
