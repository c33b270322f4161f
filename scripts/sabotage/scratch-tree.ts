import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Guard } from './guard.ts';
import { killLeftOver } from './kill-left-over.ts';
import { withoutGuard } from './without-guard.ts';

/** Not copied: what is installed is linked to, what was built or measured is not needed. */
const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'coverage']);

/** A copy of the repository in which one guard at a time is taken out. Temporary files of its tests lie in it too, and go with it. */
export class ScratchTree {
  /** Absolute. */
  readonly root: string;
  /** `TMPDIR` of everything that runs in it. */
  readonly temporary: string;
  readonly #folder: string;

  constructor(repository: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'coppice-sabotage-'));
    // PostgreSQL runs as another user where this one is root, and must get to its files.
    chmodSync(this.#folder, 0o755);
    this.root = join(this.#folder, 'tree');
    this.temporary = join(this.#folder, 'tmp');
    cpSync(repository, this.root, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    symlinkSync(join(repository, 'node_modules'), join(this.root, 'node_modules'), 'dir');
    this.#renewTemporary();
  }

  #renewTemporary(): void {
    rmSync(this.temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    mkdirSync(this.temporary);
    chmodSync(this.temporary, 0o1777);
  }

  /** Takes the guard out while `work` runs. Throws when the guard is not found. */
  async without<T>(guard: Guard, work: () => Promise<T>): Promise<T> {
    const source = readFileSync(join(this.root, guard.file), 'utf8');
    return this.instead(guard.file, withoutGuard(source, guard), work);
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

  /** What the compiler has to say of the program without these guards, unused names left aside; null when it has nothing to say. */
  typeErrors(guards: readonly Guard[]): string | null {
    const sources = new Map<string, string>();
    const left: Guard[] = [];
    for (const guard of guards) {
      const file = join(this.root, guard.file);
      const source = sources.get(file) ?? readFileSync(file, 'utf8');
      // Two guards may be one piece of source: then one after the other.
      if (sources.has(file) && !source.includes(guard.guard)) left.push(guard);
      else sources.set(file, withoutGuard(source, guard));
    }
    const before = new Map([...sources.keys()].map((file) => [file, readFileSync(file, 'utf8')]));
    for (const [file, source] of sources) writeFileSync(file, source);
    const errors = this.compile();
    for (const [file, source] of before) writeFileSync(file, source);
    return errors === null && left.length > 0 ? this.typeErrors(left) : errors;
  }

  /** What the compiler has to say of the program, unused names left aside; null when it has nothing to say. */
  compile(): string | null {
    const compiler = join(this.root, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--noEmit', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...options], {
      cwd: this.root,
      encoding: 'utf8',
    });
    return status === 0 ? null : stdout.trim();
  }

  /** What its tests get to see: no key, ledger or configuration of the user. */
  environment(): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(
      ([name]) => !/_API_KEY$|^COPPICE_|^DATABASE_URL$/.test(name),
    );
    const compiled = join(this.root, 'node_modules', '.cache', 'coppice-tests');
    return { NODE_COMPILE_CACHE: compiled, ...Object.fromEntries(own), TMPDIR: this.temporary };
  }

  /** Ends whatever a run left behind. */
  tidy(): void {
    killLeftOver(this.temporary);
    this.#renewTemporary();
  }

  remove(): void {
    killLeftOver(this.temporary);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
