import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file of settings, on the disk when it returns: whoever reads it meanwhile, or after a crash, gets the old or the new one. For the user only, unless
 * it has another `mode`; so is its folder, if it is made. Throws as `node:fs` does; then nothing is left behind.
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
