import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEGABYTE = 1024 * 1024;

/** A small file system in memory that can be full. */
export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  free(): void;
  remove(): void;
}

/** Mounts a small disk, which needs root. Returns the reason as text if it cannot. */
export function mountSmallDisk(megabytes: number): SmallDisk | string {
  if (process.platform !== 'linux') return `no tmpfs on ${process.platform}`;
  if (process.getuid?.() !== 0) return 'only root may mount a small disk';
  const folder = mkdtempSync(join(tmpdir(), 'coppice-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(folder);
    return `it cannot be mounted: ${error instanceof Error ? error.message.split('\n').at(-2) : String(error)}`;
  }
  chmodSync(folder, 0o755);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const file = openSync(filler, 'w');
      try {
        for (const block of [Buffer.alloc(MEGABYTE), Buffer.alloc(4_096)]) fillWith(file, block);
      } finally {
        closeSync(file);
      }
    },
    free: () => unlinkSync(filler),
    remove() {
      execFileSync('umount', ['-l', folder]);
      rmdirSync(folder);
    },
  };
}

function fillWith(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
