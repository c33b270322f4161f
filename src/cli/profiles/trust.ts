import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import type { RawAgentFile } from './read-agent-files.ts';
import { type RawAgentFiles, readProjectAgentFiles } from './read-agent-files.ts';

/** Beyond this the folders that were trusted longest ago are forgotten. */
const FOLDERS_MAX = 1_000;

const trusted = z.object({ hash: z.string(), trusted_at: z.string() });
const trustFile = z.object({
  schema: z.literal('coppice/trust/v1'),
  folders: z.record(z.string(), z.unknown()),
});

export type Trusted = z.infer<typeof trusted>;

/**
 * Which folders' agent files the user accepted, by what was in them (SAFETY: a repository that brings its own configuration).
 * Kept in `trust.json` of the data folder. A file that is damaged or cannot be read means that nothing is trusted.
 */
export class Trust {
  readonly #file: string;
  readonly #data_folder: string;

  constructor(data_folder: string) {
    this.#data_folder = data_folder;
    this.#file = join(data_folder, 'trust.json');
  }

  /** What was accepted of this folder last; null for nothing. */
  of(folder: string): Trusted | null {
    return this.#read().get(canonical(folder)) ?? null;
  }

  /** Accepts exactly these contents. Throws when the data folder cannot be written. */
  accept(folder: string, hash: string, now_ms: number): void {
    const folders = this.#read();
    const key = canonical(folder);
    // Last again: the oldest stand first.
    folders.delete(key);
    folders.set(key, { hash, trusted_at: new Date(now_ms).toISOString() });
    this.#write(new Map([...folders].slice(-FOLDERS_MAX)));
  }

  /** False: it was not trusted. */
  revoke(folder: string): boolean {
    const folders = this.#read();
    if (!folders.delete(canonical(folder))) return false;
    this.#write(folders);
    return true;
  }

  #read(): Map<string, Trusted> {
    const folders = new Map<string, Trusted>();
    try {
      const { data } = trustFile.safeParse(JSON.parse(readFileSync(this.#file, 'utf8')));
      for (const [folder, entry] of Object.entries(data?.folders ?? {})) {
        const parsed = trusted.safeParse(entry);
        if (parsed.success) folders.set(folder, parsed.data);
      }
    } catch {
      // Nothing is trusted; the next acceptance writes it anew.
    }
    return folders;
  }

  #write(folders: ReadonlyMap<string, Trusted>): void {
    mkdirSync(this.#data_folder, { recursive: true, mode: 0o700 });
    const text = JSON.stringify(
      { schema: 'coppice/trust/v1', folders: Object.fromEntries(folders) },
      undefined,
      2,
    );
    const temporary = `${this.#file}.${randomBytes(6).toString('hex')}`;
    try {
      writeFileSync(temporary, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true });
      renameSync(temporary, this.#file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }
}

/** Two ways to the same folder are one folder. */
function canonical(folder: string): string {
  return realpathSync.native(folder);
}

/** What identifies these files: names and contents, each with its length before it, so that no two sets look alike. */
export function hashAgentFiles(files: readonly RawAgentFile[]): string {
  const hash = createHash('sha256');
  for (const { name, content } of files) {
    const bytes = Buffer.from(name);
    hash.update(`${bytes.length}:`).update(bytes).update(`${content.length}:`).update(content);
  }
  return hash.digest('hex');
}

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
