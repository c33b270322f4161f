import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from 'node:fs';
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

/** A file system in memory, where a test proves nothing of the disk. */
export const MEMORY = '/dev/shm';

/** No room is taken from a small machine. */
const ROOM = 4 * 2 ** 30;

export function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM;
  } catch {
    return false;
  }
}

/** A new folder in memory, where there is such a place; its maker removes it. Those of processes that were killed first are removed now. */
export function memoryFolder(name: string): string {
  const below = existsSync(MEMORY) ? MEMORY : tmpdir();
  for (const one of readdirSync(below)) {
    const maker = /^coppice-[a-z]+-(\d+)-/.exec(one)?.[1];
    if (maker === undefined || !isGone(Number(maker))) continue;
    try {
      rmSync(join(below, one), { recursive: true, force: true });
    } catch {
      // Somebody else's.
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
