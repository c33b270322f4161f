import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A new, empty folder by its canonical path; it goes when the process ends. */
export function temporaryFolder(): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'coppice-test-')));
  made.push(folder);
  return folder;
}
