import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** Not copied: dependencies are linked, build output is not needed, or made anew. */
const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'coverage']);

/** A copy of the repository in which mutants are made. Temporary files of its tests are in the same folder and are removed with it. */
export class ScratchTree {
  /** Absolute path of the copy. */
  readonly root: string;
  /** `TMPDIR` of everything that runs in it. */
  readonly temporary: string;
  readonly #folder: string;

  constructor(repository: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'coppice-mutants-'));
    // If this process runs as root, PostgreSQL runs as another user, who must be able to reach its files.
    chmodSync(this.#folder, 0o755);
    this.root = join(this.#folder, 'tree');
    this.temporary = join(this.#folder, 'tmp');
    const filter = (path: string) => !LEFT_OUT.has(basename(path));
    // Symbolic links are copied verbatim, so that none leads back to the repository, to source without the mutant.
    cpSync(repository, this.root, { recursive: true, verbatimSymlinks: true, filter });
    symlinkSync(join(repository, 'node_modules'), join(this.root, 'node_modules'), 'dir');
    this.#renewTemporary();
  }

  #renewTemporary(): void {
    rmSync(this.temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    mkdirSync(this.temporary);
    chmodSync(this.temporary, 0o1777);
  }

  /** Puts this source in the place of a file while `work` runs. */
  async instead<T>(path: string, changed: string, work: () => Promise<T>): Promise<T> {
    const file = join(this.root, path);
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, changed);
    try {
      return await work();
    } finally {
      writeFileSync(file, source);
    }
  }

  /** Errors of the compiler, unused names left aside; null when there are none. */
  compile(): string | null {
    const compiler = join(this.root, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--noEmit', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...options], {
      cwd: this.root,
      encoding: 'utf8',
    });
    return status === 0 ? null : stdout.trim();
  }

  /** The environment of its tests: no key, ledger or configuration of the user. */
  environment(): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(
      ([name]) => !/_API_KEY$|^COPPICE_|^DATABASE_URL$/.test(name),
    );
    const compiled = join(this.root, 'node_modules', '.cache', 'coppice-tests');
    return { NODE_COMPILE_CACHE: compiled, ...Object.fromEntries(own), TMPDIR: this.temporary };
  }

  /** Kills the processes and removes the temporary files that a run left behind. */
  tidy(): void {
    killLeftOver(this.temporary);
    this.#renewTemporary();
  }

  remove(): void {
    killLeftOver(this.temporary);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/**
 * Kills every process that has `temporary` as its `TMPDIR`: what tests leave running when a mutant no longer ends it. Where the
 * environment of processes cannot be read (not Linux), it does nothing.
 */
export function killLeftOver(temporary: string): void {
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      if (environment.includes(`TMPDIR=${temporary}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // ended meanwhile, or of another user
    }
  }
}
