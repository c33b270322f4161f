import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { CoppiceError } from '../../records/coppice-error.ts';

const FILE_MAX = 64 * 1024;

/** Flags that open a file without blocking if it is a pipe. */
export const NO_WAIT = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads and closes a file. Throws if it is too large. */
export function readOne(descriptor: number): Buffer {
  try {
    const { content, whole } = readStart(descriptor, FILE_MAX);
    if (!whole) throw new Error(`larger than ${FILE_MAX / 1024} KB`);
    return content;
  } finally {
    closeSync(descriptor);
  }
}

/** Reads up to `most` bytes of a regular file; `whole`: whether that is all of it. Throws for anything but a regular file. */
export function readStart(
  descriptor: number,
  most: number,
): { readonly content: Buffer; readonly whole: boolean } {
  if (!fstatSync(descriptor).isFile()) throw new Error('not a regular file');
  // One byte more than allowed detects a file that is too large, whatever size fstat gave.
  const buffer = Buffer.alloc(most + 1);
  for (let length = 0; ; ) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += read;
    if (read === 0 || length > most)
      return { content: Buffer.from(buffer.subarray(0, Math.min(length, most))), whole: length <= most };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'a dangling symbolic link',
  ELOOP: 'its symbolic links form a cycle',
  ENOTDIR: 'not a folder',
  ENXIO: 'not a regular file',
};

export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined || error instanceof CoppiceError ? message : (REASONS[code] ?? code);
}
