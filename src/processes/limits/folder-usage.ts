import { type Dir, lstatSync, opendirSync } from 'node:fs';
import { keptIn } from '../../records/kept-in.ts';
import type { LimitName } from './process-usage.ts';
import { Slices } from './slices.ts';

/** A bound on what a folder holds, whoever put it there. */
export interface FolderQuota {
  readonly path: string;
  /** As commands know it. */
  readonly name: string;
  readonly mb: number;
  /** The limit that `mb` comes from. */
  readonly limit: LimitName;
  /** Maximum number of files and folders. */
  readonly files: number;
  /** What it could take when it was counted before. */
  readonly left_mb: number;
}

export interface FolderUsage {
  readonly mb: number;
  /** Infinity: some of it cannot be counted. */
  readonly files: number;
}

/** Counts in progress, shared by those who ask meanwhile. */
const counting = new Map<string, Promise<FolderUsage>>();

/**
 * Counts what a folder holds on disk: blocks, so that holes count nothing, and a file with several names once. Ends early beyond `files`. A missing folder
 * holds nothing. Never rejects.
 */
export function folderUsage({ path, files }: Pick<FolderQuota, 'path' | 'files'>): Promise<FolderUsage> {
  return keptIn(counting, path, () =>
    countIn(path, files)
      .catch(() => ({ mb: 0, files: Infinity }))
      .finally(() => counting.delete(path)),
  );
}

async function countIn(top: string, files_max: number): Promise<FolderUsage> {
  let [blocks, files] = [0, 0];
  const usage = (): FolderUsage => ({ mb: (blocks * 512) / 2 ** 20, files });
  const linked = new Set<number>();
  const slices = new Slices();
  // In latin1, in which every byte is a character: names need not be UTF-8.
  const folders = [Buffer.from(top).toString('latin1')];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let directory: Dir | undefined;
    try {
      directory = opendirSync(bytes(folder), { encoding: 'latin1', bufferSize: 256 });
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const path = `${folder}/${entry.name}`;
        const status = lstatSync(bytes(path), { throwIfNoEntry: false });
        if (status === undefined || linked.has(status.ino)) continue;
        if (status.isDirectory()) folders.push(path);
        else if (status.nlink > 1) linked.add(status.ino);
        blocks += status.blocks;
        files += 1;
        if (files > files_max) return usage();
        if (slices.isOver()) await slices.next();
      }
    } catch (error) {
      if (isHiding(folder, error as NodeJS.ErrnoException)) return { ...usage(), files: Infinity };
    } finally {
      directory?.closeSync();
    }
  }
  return usage();
}

/** Whether the error is that of a place made to hide something: too deep for a path, or closed by the user as whom commands run. */
function isHiding(folder: string, { code }: NodeJS.ErrnoException): boolean {
  return (
    code === 'ENAMETOOLONG' || (code === 'EACCES' && lstatSync(bytes(folder)).uid === process.getuid?.())
  );
}

const bytes = (path: string) => Buffer.from(path, 'latin1');
