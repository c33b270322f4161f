import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Creates a new, empty folder and returns its canonical path; it is removed when the process exits. */
export function temporaryFolder(): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'coppice-test-')));
  made.push(folder);
  return folder;
}

/** An in-memory file system, for tests that prove nothing about the disk. */
export const MEMORY = '/dev/shm';

/** Minimum free bytes for using a file system; spares small machines. */
const ROOM = 4 * 2 ** 30;

export function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM;
  } catch {
    return false;
  }
}

/**
 * Creates a folder in memory, or else in the system's temporary folder; the caller removes it. First removes the folders of processes that were killed before
 * they could.
 */
export function memoryFolder(name: string): string {
  const below = existsSync(MEMORY) ? MEMORY : tmpdir();
  for (const one of readdirSync(below)) {
    const maker = /^coppice-[a-z]+-(\d+)-/.exec(one)?.[1];
    if (maker === undefined || !isGone(Number(maker))) continue;
    try {
      rmSync(join(below, one), { recursive: true, force: true });
    } catch {
      // Belongs to another user.
    }
  }
  return mkdtempSync(join(below, `coppice-${name}-${process.pid}-`));
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
