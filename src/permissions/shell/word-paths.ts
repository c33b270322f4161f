import { type Dirent, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { orElse } from '../../records/coppice-error.ts';
import { matchesText } from '../glob-match.ts';
import { ANY, alternatives, isKnown } from './shell-word.ts';

/** Maximum file names compared with the words of a command, and maximum folders in a word that are unknown. */
const names_max = 10_000;
const unknown_max = 12;

/** Other names of the folder in which a program runs, of the folders that it has open, and of the root folder. */
const kernel_folder =
  /^((?:\/[^/]+\/\.\.)*\/proc(?:\/[^/]+\/\.\.)*\/[^/]+(?:\/task\/[^/]+)?\/(?:cwd|(root)|fd\/[^/]+)|\/dev\/fd\/[^/]+)(?=\/.|[\0-\x05])/;

/** Expands the words of a command to the paths that they may name, within a number of look-ups. */
export class WordPaths {
  #names = 0;

  /** Whether there was more to compare than is allowed, so that paths are missing. */
  get exhausted(): boolean {
    return this.#names > names_max;
  }

  /** The paths that a word may name for a program in `folder`: the word itself, or the existing files that its unknown parts may complete. */
  named(folder: string, word: string): readonly string[] {
    const texts = (word.match(/[\0-\x02][^/]*\//g)?.length ?? 0) > unknown_max ? null : alternatives(word);
    if (texts === null) this.#names = Number.POSITIVE_INFINITY;
    const homes = (text: string) =>
      /^~[^/]*/.test(text) ? [ANY, homedir()].map((home) => text.replace(/^~[^/]*/, home)) : [text];
    return (texts ?? []).flatMap(homes).flatMap((text) => this.#completed(folder, located(folder, text)));
  }

  #completed(folder: string, word: string): readonly string[] {
    const parts = word.split('/');
    const at = parts.findIndex((part) => !isKnown(part));
    if (at === -1) return word === '' ? [] : [located(folder, word)];
    const before = parts.slice(0, at);
    const [part = '', ...rest] = parts.slice(at);
    const literal = before.length === 0 ? [] : [before.join('/') || '/'];
    const any_name = !/[^\0\x01]/.test(part);
    if (any_name && rest.length === 0) return literal;
    const pattern = part.replaceAll(/[\0-\x05]+/g, '*');
    const fits = (entry: Dirent): boolean =>
      matchesText(pattern, entry.name) &&
      !(/^\x02+$/.test(part) && entry.name.startsWith('.')) &&
      (rest.length === 0 || entry.isDirectory() || entry.isSymbolicLink());
    const found = this.#entries(resolve(folder, ...literal)).filter(fits);
    const paths = found.flatMap(({ name }) => this.#completed(folder, [...before, name, ...rest].join('/')));
    // What is unknown may also be this folder, by any path.
    return [...literal, ...paths, ...(any_name ? this.#completed(folder, rest.join('/')) : [])];
  }

  /** What is in a folder; nothing if it cannot be read. */
  #entries(folder: string): readonly Dirent[] {
    const entries = this.exhausted ? [] : orElse(() => readdirSync(folder, { withFileTypes: true }), []);
    this.#names += entries.length;
    return entries;
  }
}

/** The word without the names that the shell and the kernel have for folders. */
function located(folder: string, word: string): string {
  let path = word.startsWith('/') ? word.replaceAll(/\/(?:\.?\/)+/g, '/') : word;
  for (let found = kernel_folder.exec(path); found !== null; found = kernel_folder.exec(path))
    path = join(found[2] === undefined ? folder : '/', path.slice(found[0].length));
  return path;
}
