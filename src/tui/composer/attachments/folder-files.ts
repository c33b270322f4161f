import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { childEnvironment } from '../../../processes/child-environment.ts';
import { runProcess } from '../../../processes/starting/run-process.ts';

/** Maximum paths that are offered of one folder. */
const PATHS_MAX = 100_000;
const BYTES_MAX = 16 * 1024 * 1024;
const TIMEOUT_MS = 5_000;
/** How long a list is good; an older one is still used until the new one is there. */
const FRESH_MS = 5_000;

/** The files below a folder, and the folders that hold them (with `/` at the end), relative to it. */
export type Paths = readonly string[];

/** Lists what is below folders: what git tracks and does not ignore, or without git everything but hidden names. */
export class FolderFiles {
  readonly #known = new Map<string, { paths: Paths; listed_at: number }>();
  readonly #listing = new Map<string, Promise<Paths>>();

  async list(folder: string): Promise<Paths> {
    const known = this.#known.get(folder);
    if (known !== undefined && Date.now() - known.listed_at < FRESH_MS) return known.paths;
    const listing = this.#listing.get(folder) ?? this.#list(folder);
    return known?.paths ?? listing;
  }

  async #list(folder: string): Promise<Paths> {
    const listing = listFiles(folder).then((files) => [...foldersOf(files), ...files]);
    this.#listing.set(folder, listing);
    try {
      const paths = await listing;
      this.#known.set(folder, { paths, listed_at: Date.now() });
      return paths;
    } finally {
      this.#listing.delete(folder);
    }
  }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const tracked = await gitFiles(folder);
  const files = tracked.length > 0 ? tracked : await walkFiles(folder);
  // A name with control characters could not be typed.
  return files.filter((path) => path !== '' && !/[\p{C}"]/u.test(path)).slice(0, PATHS_MAX);
}

/** Empty where there is no git, or the folder is no part of a repository. */
async function gitFiles(folder: string): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // A file system monitor would be a program that the repository names.
  const args = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  await runProcess({
    file: 'git',
    args: [...args, '--deduplicate'],
    place: folder,
    env: { ...childEnvironment([]), GIT_OPTIONAL_LOCKS: '0' },
    signal: new AbortController().signal,
    timeout_ms: TIMEOUT_MS,
    onOutput: (chunk) => {
      bytes += chunk.length;
      if (bytes <= BYTES_MAX) chunks.push(chunk);
    },
  });
  // What follows the last NUL was cut short.
  return Buffer.concat(chunks).toString('utf8').split('\0').slice(0, -1);
}

/** Breadth first, so that a bound leaves out what is deepest. */
async function walkFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const until = Date.now() + TIMEOUT_MS;
  const queue = [''];
  for (let within = queue.shift(); within !== undefined; within = queue.shift()) {
    const entries = await readdir(join(folder, within), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (entry.isDirectory()) queue.push(`${within}${entry.name}/`);
      else files.push(`${within}${entry.name}`);
    }
    if (files.length >= PATHS_MAX || Date.now() > until) break;
  }
  return files;
}

function foldersOf(files: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const file of files)
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const folder = file.slice(0, end + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}
