import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { RawAgentFile } from './agent-files.ts';

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
