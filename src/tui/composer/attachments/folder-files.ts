import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { childEnvironment } from '../../../processes/child-environment.ts';
import { runProcess } from '../../../processes/starting/run-process.ts';

/** Maximum files listed below one folder. */
const PATHS_MAX = 100_000;
const BYTES_MAX = 16 * 1024 * 1024;
const TIMEOUT_MS = 5_000;
/** How long a list is fresh; a stale one is still returned while the next one is being read. */
const FRESH_MS = 5_000;

/** Relative paths of the files below a folder, and of the folders that contain them (with `/` at the end). */
export type Paths = readonly string[];

/** Lists and caches the files below folders: those that git does not ignore, or without git all but hidden names and `node_modules`. */
export class FolderFiles {
  readonly #known = new Map<string, { paths: Paths; listed_at: number }>();
  readonly #listing = new Map<string, Promise<Paths>>();

  async list(folder: string): Promise<Paths> {
    const known = this.#known.get(folder);
    if (known !== undefined && performance.now() - known.listed_at < FRESH_MS) return known.paths;
    const listing = this.#listing.get(folder) ?? this.#list(folder);
    return known?.paths ?? listing;
  }

  async #list(folder: string): Promise<Paths> {
    const listing = listFiles(folder).then((files) => [...foldersOf(files), ...files]);
    this.#listing.set(folder, listing);
    try {
      const paths = await listing;
      this.#known.set(folder, { paths, listed_at: performance.now() });
      return paths;
    } finally {
      this.#listing.delete(folder);
    }
  }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const tracked = await gitFiles(folder);
  const files = tracked.length > 0 ? tracked : await walkFiles(folder);
  // Names with control characters or quotes cannot be typed in a mention.
  return files.filter((path) => path !== '' && !/[\p{C}"]/u.test(path)).slice(0, PATHS_MAX);
}

/** Returns an empty list if there is no git or the folder is in no repository. */
async function gitFiles(folder: string): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Security: a repository may name any program as its file system monitor.
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
  // Text after the last NUL is empty or an incomplete path.
  return Buffer.concat(chunks).toString('utf8').split('\0').slice(0, -1);
}

/** Walks breadth-first, so that the limits leave out the deepest files. */
async function walkFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const until = performance.now() + TIMEOUT_MS;
  const queue = [''];
  for (let within = queue.shift(); within !== undefined; within = queue.shift()) {
    const entries = await readdir(join(folder, within), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (entry.isDirectory()) queue.push(`${within}${entry.name}/`);
      else files.push(`${within}${entry.name}`);
    }
    if (files.length >= PATHS_MAX || performance.now() > until) break;
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
