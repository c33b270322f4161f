import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type ContainedPath, openContained, pathInFolder } from '../../permissions/path-containment.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { protectedPart } from '../../permissions/protected-path.ts';

/** Opens the folder of `path`; missing folders are created one at a time, each through the handle of its parent. */
function openParent(path: ContainedPath): { descriptor: number; absolute: string } {
  const folders = dirname(path.relative) === '.' ? [] : dirname(path.relative).split('/');
  const { root } = path;
  let absolute = root;
  let descriptor = openContained({ root, absolute, relative: '.', exists: true });
  try {
    for (const [at, name] of folders.entries()) {
      try {
        mkdirSync(pathInFolder(descriptor, absolute, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      absolute = join(absolute, name);
      const next = openContained({
        root,
        absolute,
        relative: folders.slice(0, at + 1).join('/'),
        exists: true,
      });
      closeSync(descriptor);
      descriptor = next;
    }
    return { descriptor, absolute };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Replaces a file atomically, keeping its mode and creating missing folders: a reader sees the old content or the new, never a part.
 * `path` comes from `containPath`.
 *
 * Throws an Error for the model: protected place, not a regular file, no permission, disk full.
 */
export function writeContained(path: ContainedPath, content: string | Buffer): void {
  const part = protectedPart(path.relative);
  const shown = printablePath(path.relative);
  if (part !== undefined)
    throw new Error(`${shown}: ${printablePath(part)} is protected: no tool may write there`);
  if (path.relative === '.') throw new Error(`${shown} is a folder`);
  try {
    replaceFile(path, content);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    const reason = reasons[code] ?? code;
    throw new Error(`${shown} could not be written: ${reason}`);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is a file, not a folder',
  ENAMETOOLONG: 'the name is too long',
};

function replaceFile(path: ContainedPath, content: string | Buffer): void {
  const folder = openParent(path);
  const target = pathInFolder(folder.descriptor, folder.absolute, basename(path.absolute));
  const temporary = pathInFolder(
    folder.descriptor,
    folder.absolute,
    `.${randomBytes(6).toString('hex')}.coppice-write`,
  );
  try {
    const old = lstatSync(target, { throwIfNoEntry: false });
    if (old !== undefined && !old.isFile()) {
      const kind = old.isDirectory() ? 'a folder' : 'not a regular file';
      throw new Error(`${printablePath(path.relative)} is ${kind}`);
    }
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
    const file = openSync(temporary, flags, 0o666);
    try {
      if (old !== undefined) fchmodSync(file, old.mode & 0o7777);
      writeFileSync(file, content);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(folder.descriptor);
  }
}
