import { hash } from 'node:crypto';
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { type ContainedPath, openContained } from '../../permissions/path-containment.ts';

/** Maximum bytes of a file that is hashed, or edited; larger ones are identified by size, modification time and inode. */
export const HASH_BYTES = 2 * 1024 * 1024;
const HASH_CHARACTERS = 22;

export interface HashedFile {
  readonly hash: string;
  /** Null if the file is too large. */
  readonly bytes: Buffer | null;
}

/** Identifies the content of an open file; null if it is not a regular file. */
export function hashFile(file: number): HashedFile | null {
  const status = fstatSync(file, { bigint: true });
  if (!status.isFile()) return null;
  if (status.size > HASH_BYTES)
    return { hash: `${status.size}-${status.mtimeNs}-${status.ino}`, bytes: null };
  const bytes = readFileSync(file);
  return { hash: hashBytes(bytes), bytes };
}

export function hashContained(path: ContainedPath): HashedFile | null {
  const file = openContained(path);
  try {
    return hashFile(file);
  } finally {
    closeSync(file);
  }
}

export function hashBytes(bytes: Buffer | string): string {
  return hash('sha256', bytes, 'base64url').slice(0, HASH_CHARACTERS);
}
