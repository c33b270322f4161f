import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Polling interval: covers replacements for which no event arrives. */
const POLL_MS = 1000;
/**
 * May disappear: git removes this folder with the last worktree. What a program creates in its place belongs to no worktree; only a folder that others create
 * anew holds settings that the program must not reach.
 */
const MAY_GO = /\/\.git\/worktrees$/;

/**
 * Detects when somebody outside replaces a path that the sandbox of a running program depends on: a mount disappears with its mount point, so that, for
 * example, a file rewritten by `git config` would be open to the program.
 */
export class MountWatch {
  readonly #identities: ReadonlyMap<string, string | null>;
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #onReplaced: ((path: string) => void) | undefined;
  #replaced: string | undefined;

  /** Starts watching at once; must be closed. */
  constructor(paths: readonly string[]) {
    this.#identities = new Map(paths.map((path) => [path, identityOf(path)]));
    for (const folder of new Set(paths.map(dirname))) this.#watch(folder);
  }

  /** Calls `onReplaced` at most once, immediately if a path has been replaced already. */
  begin(onReplaced: (path: string) => void): void {
    this.#onReplaced = onReplaced;
    this.#timer = setInterval(() => this.#lookAtAll(), POLL_MS).unref();
    if (this.#replaced !== undefined) onReplaced(this.#replaced);
    else this.#lookAtAll();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #watch(folder: string): void {
    try {
      const inside = [...this.#identities.keys()].filter((path) => dirname(path) === folder);
      const named = new Map(inside.map((path) => [basename(path), path]));
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        const path = name === null ? undefined : named.get(name);
        // The replacement may have the same inode number, so a rename event counts by itself.
        if (event === 'rename' && path !== undefined) this.#look(path, true);
      });
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // The system allows no more watches, or the folder is gone: polling covers it.
    }
  }

  #lookAtAll(): void {
    for (const path of this.#identities.keys()) this.#look(path, false);
  }

  #look(path: string, changed: boolean): void {
    const now = identityOf(path);
    const was = this.#identities.get(path);
    if (now === was && !(changed && was !== null)) return;
    if (now === null && MAY_GO.test(path)) return;
    if (this.#replaced !== undefined) return;
    this.#replaced = path;
    this.close();
    this.#onReplaced?.(path);
  }
}

/** Returns null if the path does not exist. */
function identityOf(path: string): string | null {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status === undefined ? null : `${status.dev}:${status.ino}`;
}
