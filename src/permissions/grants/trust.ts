import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../replace-file.ts';

/** Maximum entries; those trusted longest ago are dropped. */
const FOLDERS_MAX = 1_000;

const trusted = z.object({ hash: z.string(), trusted_at: z.string() });
const trustFile = z.object({
  schema: z.literal('coppice/trust/v1'),
  folders: z.record(z.string(), z.unknown()),
});

export type Trusted = z.infer<typeof trusted>;

/**
 * Records which agent files, instructions, skills, server files and workflows the user accepted, by a hash of their contents (docs/profiles.md). Kept in
 * `trust.json` of the data folder; if that file is damaged or cannot be read, nothing is trusted.
 */
export class Trust {
  readonly #file: string;

  constructor(data_folder: string) {
    this.#file = join(data_folder, 'trust.json');
  }

  /** Returns what was accepted last for this path, with symbolic links resolved: two paths of one folder are one entry. Null if nothing was. */
  of(folder: string): Trusted | null {
    return this.#read().get(realpathSync.native(folder)) ?? null;
  }

  /** Whether exactly these contents were accepted (`trusted`), others (`changed`), or none. */
  stateOf(folder: string, hash: string): 'trusted' | 'changed' | 'untrusted' {
    const before = this.of(folder);
    return before === null ? 'untrusted' : before.hash === hash ? 'trusted' : 'changed';
  }

  /** Accepts exactly these contents. Throws when the data folder cannot be written. */
  accept(folder: string, hash: string, now_ms: number): void {
    const folders = this.#read();
    const key = realpathSync.native(folder);
    // Moves the entry to the end: the oldest are first.
    folders.delete(key);
    folders.set(key, { hash, trusted_at: new Date(now_ms).toISOString() });
    this.#write(new Map([...folders].slice(-FOLDERS_MAX)));
  }

  /** Returns false if it was not trusted. */
  revoke(folder: string): boolean {
    const folders = this.#read();
    if (!folders.delete(realpathSync.native(folder))) return false;
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
      // Nothing is trusted; the next acceptance rewrites the file.
    }
    return folders;
  }

  #write(folders: ReadonlyMap<string, Trusted>): void {
    const text = JSON.stringify(
      { schema: 'coppice/trust/v1', folders: Object.fromEntries(folders) },
      undefined,
      2,
    );
    replaceFile(this.#file, `${text}\n`);
  }
}
