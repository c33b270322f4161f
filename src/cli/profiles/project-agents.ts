import { resolve } from 'node:path';
import { type RawAgentFiles, readProjectAgentFiles } from './agent-files.ts';
import { hashAgentFiles, Trust } from './trust.ts';

/** What a folder brings along, and whether the user accepted it. */
export interface ProjectAgents {
  /** Absolute. */
  readonly folder: string;
  readonly raw: RawAgentFiles;
  readonly hash: string;
  /** `changed`: it was accepted once, with other contents. `nothing`: there is no file that could be trusted. */
  readonly trust: 'trusted' | 'changed' | 'untrusted' | 'nothing';
  /** ISO time of the newest acceptance, of whatever contents. */
  readonly trusted_at: string | null;
}

/** Reads `.coppice/agents` of a folder and looks it up. The folder must exist. */
export function readProjectAgents(folder: string, data_folder: string): ProjectAgents {
  const raw = readProjectAgentFiles(folder);
  const hash = hashAgentFiles(raw.files);
  const before = new Trust(data_folder).of(folder);
  const found = before === null ? 'untrusted' : before.hash === hash ? 'trusted' : 'changed';
  return {
    folder: resolve(folder),
    raw,
    hash,
    trust: raw.files.length === 0 ? 'nothing' : found,
    trusted_at: before?.trusted_at ?? null,
  };
}

/** One line on what stays out until the user accepts it; null when nothing does. */
export function untrustedNotice(project: ProjectAgents): string | null {
  const { trust, folder, raw } = project;
  if (trust !== 'untrusted' && trust !== 'changed') return null;
  const count = raw.files.length === 1 ? '1 agent file' : `${raw.files.length} agent files`;
  const why = trust === 'changed' ? 'changed since this folder was trusted' : 'this folder is not trusted';
  return `ignored: ${count} in .coppice/agents (${why}); look and accept: coppice trust${argumentFor(folder)}`;
}

function argumentFor(folder: string): string {
  if (folder === resolve('.')) return '';
  return /^[\w./-]+$/.test(folder) ? ` ${folder}` : ` '${folder.replaceAll("'", `'\\''`)}'`;
}
