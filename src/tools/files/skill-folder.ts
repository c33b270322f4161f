import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { containPath } from '../../permissions/path-containment.ts';
import { readWhole } from './read-whole.ts';

/** Limits of a skill's folder: more than any skill needs, and small enough to be read whole with every use. */
const FILES_MAX = 200;
const FOLDER_MAX = 1024 * 1024;

export interface NamedContent {
  /** Path relative to the folder, with `/`. */
  readonly name: string;
  readonly content: Buffer;
}

export interface SkillFolder {
  /** Sorted by name. */
  readonly files: readonly NamedContent[];
  /** Hash of all names and contents. */
  readonly hash: string;
}

/** Hash of names and contents, each preceded by its length, so that no two sets of files have the same input. */
export function hashFiles(files: readonly NamedContent[]): string {
  const hash = createHash('sha256');
  for (const { name, content } of files) {
    const bytes = Buffer.from(name);
    hash.update(`${bytes.length}:`).update(bytes).update(`${content.length}:`).update(content);
  }
  return hash.digest('hex');
}

/**
 * Reads a whole folder once, so that what is hashed is what is used. A symbolic link counts as its target path and is not followed. Throws if it is too large.
 */
export function readSkillFolder(folder: string): SkillFolder {
  const files: NamedContent[] = [];
  let left = FOLDER_MAX;
  let folders = 0;
  const add = (name: string, content: Buffer): void => {
    left -= content.length;
    if (files.push({ name, content }) > FILES_MAX) throw new Error(`it has more than ${FILES_MAX} files`);
  };
  const visit = (inner: string): void => {
    folders += 1;
    if (folders > FILES_MAX) throw new Error(`it has more than ${FILES_MAX} folders`);
    for (const entry of readdirSync(join(folder, inner), { withFileTypes: true })) {
      const name = inner === '' ? entry.name : `${inner}/${entry.name}`;
      if (entry.isDirectory()) visit(name);
      else if (entry.isSymbolicLink()) add(`${name}@`, Buffer.from(readlinkSync(join(folder, name))));
      else add(name, readWhole(containPath(folder, name), left, 'a skill has at most 1 MB'));
    }
  };
  visit('');
  // Sorted by code unit: the same order, and so the same hash, in every locale.
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { files, hash: hashFiles(files) };
}
