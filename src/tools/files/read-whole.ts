import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { type ContainedPath, openContained } from '../../permissions/path-containment.ts';
import { printablePath } from '../../permissions/printable-path.ts';

/** Returns all bytes of a file. Throws an Error for the model if it is not a regular file or is too large; `instead` suggests what to do then. */
export function readWhole(source: ContainedPath, max_bytes: number, instead?: string): Buffer {
  const shown = printablePath(source.relative);
  const file = openContained(source);
  try {
    const status = fstatSync(file);
    if (!status.isFile())
      throw new Error(`${shown}: ${status.isDirectory() ? 'a folder' : 'not a regular file'}`);
    if (status.size > max_bytes) {
      const next = instead === undefined ? '' : `: ${instead}`;
      throw new Error(`${shown}: ${status.size} bytes; the maximum is ${max_bytes}${next}`);
    }
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
