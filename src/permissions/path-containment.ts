import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { orElse } from '../records/coppice-error.ts';
import { didYouMean } from '../render/nearest-name.ts';
import { printablePath } from './printable-path.ts';

/**
 * Keeps paths inside a folder. A path is first made canonical (all symbolic links followed) and compared with
 * the folder; then it is opened without following a link at its end; then the handle itself is resolved,
 * so that a link swapped in between is detected. File operations are synchronous: nothing else in this
 * process can run between check and use.
 *
 * Failures are thrown as an Error with a message for the model.
 */

export interface ContainedPath {
  /** The containing folder, canonical and absolute. */
  readonly root: string;
  /** Canonical and absolute. */
  readonly absolute: string;
  /** Relative to the folder, with `/`; `.` for the folder itself. */
  readonly relative: string;
  readonly exists: boolean;
}

/** Maximum characters of a path as written: no system opens longer ones, but a model may write megabytes. */
const PATH_MAX = 32_768;
/** Maximum characters of a path that this system can open. Each component of one that does not exist costs a look-up of all before it. */
const OPENABLE_MAX = process.platform === 'win32' ? PATH_MAX : 4_096;

/** Whether the path is longer than any that can be opened. */
export function isPathTooLong(path: string): boolean {
  return path.length > PATH_MAX;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Whether the path is the folder `root` or below it; both canonical. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function isLink(path: string): boolean {
  // It may be impossible to look it up.
  return orElse(() => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true, false);
}

/** Splits a path into its canonical existing part and the names after it that do not exist. */
function canonicalPart(path: string): { existing: string; missing: string[] } {
  const missing: string[] = [];
  for (let current = path; ; current = dirname(current)) {
    try {
      return { existing: realpathSync.native(current), missing };
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ELOOP') throw new Error(`${printablePath(path)}: its symbolic links form a cycle`);
      if (code === 'ENAMETOOLONG') throw new Error('the path is too long');
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new Error(`${printablePath(path)}: ${code}`);
    }
    // A dangling link still exists; writing through it would create a file outside the folder.
    if (isLink(current))
      throw new Error(`${printablePath(path)}: ${printablePath(current)} is a dangling symbolic link`);
    if (dirname(current) === current) throw new Error(`${printablePath(path)}: does not exist`);
    missing.unshift(basename(current));
  }
}

/**
 * Resolves `path` (relative to `root`, or absolute) to its canonical path inside `root`. It need not exist. Throws if
 * it is outside.
 */
export function containPath(root: string, path: string): ContainedPath {
  if (path === '') throw new Error('field "path": must not be empty');
  if (isPathTooLong(path)) throw new Error('the path is too long');
  if (path.includes('\0')) throw new Error('field "path": must not contain NUL characters');
  const canonical_root = realpathSync.native(root);
  const asked = isAbsolute(path) ? resolve(path) : resolve(canonical_root, path);
  if (asked.length > OPENABLE_MAX) throw new Error('the path is too long');
  const { existing, missing } = canonicalPart(asked);
  const absolute = join(existing, ...missing);
  if (!isInside(canonical_root, absolute)) {
    const target = absolute === asked ? '' : ` (it leads to ${printablePath(absolute)})`;
    throw new Error(
      `${printablePath(path)}${target} is outside your folder ${printablePath(canonical_root)}: use a path inside it${likePath(canonical_root, path)}`,
    );
  }
  const inner = relative(canonical_root, absolute).split(sep).join('/');
  return {
    root: canonical_root,
    absolute,
    relative: inner === '' ? '.' : inner,
    exists: missing.length === 0,
  };
}

/** Maximum names of a folder that are compared with one that it does not have. */
const NAMES_MAX = 1_000;

/** `. Did you mean src/app.ts?` for a path that does not exist in the folder; an empty string if nothing there is like it. */
export function likePath(root: string, path: string): string {
  const names = path.split(/[\\/]+/).filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) return '';
  // A path that begins at another place: of the project, or of the machine that its writer thinks of.
  for (let from = 0; from < names.length; from += 1) {
    const rest = names.slice(from).join('/');
    if (existsSync(join(root, rest))) return `. Did you mean ${printablePath(rest)}?`;
  }
  const kept = names.findIndex((_, at) => !existsSync(join(root, ...names.slice(0, at + 1))));
  if (kept === -1 || isAbsolute(path)) return '';
  const folder = names.slice(0, kept).join('/');
  const known = orElse(() => readdirSync(join(root, folder)).slice(0, NAMES_MAX), []);
  const [, like] = /mean (.*)\?/.exec(didYouMean(names[kept] ?? '', known)) ?? [];
  return like === undefined ? '' : `. Did you mean ${printablePath(join(folder, like))}?`;
}

const no_follow = constants.O_NOFOLLOW ?? 0;
/** Keeps a pipe without a writer from blocking the whole process. */
const no_block = constants.O_NONBLOCK ?? 0;

/** The path of an open handle; undefined where the system cannot tell. */
function placeOfHandle(descriptor: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return readlinkSync(`/proc/self/fd/${descriptor}`);
}

function verifyHandle(descriptor: number, canonical: string): void {
  const place = placeOfHandle(descriptor);
  if (place !== undefined) {
    if (place === canonical) return;
  } else {
    const opened = fstatSync(descriptor);
    const now = lstatSync(canonical, { throwIfNoEntry: false });
    const same = now !== undefined && now.dev === opened.dev && now.ino === opened.ino;
    if (same && realpathSync.native(canonical) === canonical) return;
  }
  throw new Error(`${printablePath(canonical)} changed while it was being opened: try again`);
}

/** Opens an existing contained path for reading (a folder too). The caller closes the descriptor. */
export function openContained(path: ContainedPath): number {
  let descriptor: number;
  try {
    descriptor = openSync(path.absolute, constants.O_RDONLY | no_follow | no_block);
  } catch (error) {
    throw new Error(explainOpen(path, error));
  }
  try {
    verifyHandle(descriptor, path.absolute);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function explainOpen(path: ContainedPath, error: unknown): string {
  const name = printablePath(path.relative);
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `${name}: no such file${likePath(path.root, path.relative)}`;
    case 'EACCES':
    case 'EPERM':
      return `${name}: permission denied`;
    case 'ELOOP':
      return `${name} changed while it was being opened: try again`;
    case 'ENXIO':
      return `${name}: not a regular file`;
    default:
      return `${name}: ${codeOf(error)}`;
  }
}

/**
 * The path of `name` in the folder behind an open handle. On Linux it goes through the handle, so that it stays
 * in that folder even if the folder's own path is swapped for a link.
 */
export function pathInFolder(folder: number, folder_path: string, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${folder}/${name}` : join(folder_path, name);
}

/**
 * The path of the folder behind an open handle, as the working directory of a child process. On Linux it goes through the handle, as above, but by
 * this process's id, since `self` would be the child.
 */
export function openFolderPath(folder: number, folder_path: string): string {
  return process.platform === 'linux' ? `/proc/${process.pid}/fd/${folder}` : folder_path;
}
