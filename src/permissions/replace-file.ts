import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Atomically replaces a settings file: a reader, also after a crash, sees either the old or the new content, which is flushed to disk first. Only the user
 * can access the file (unless `mode` differs) and the folders that are created. Throws as `node:fs` does, and then leaves no temporary file.
 */
export function replaceFile(file: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
    if (mode !== 0o600) chmodSync(temporary, mode);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
