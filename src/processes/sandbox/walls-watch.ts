import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Polls what events do not cover, such as those that the system dropped. */
const POLL_MS = 1000;
/**
 * Git removes it with the last worktree. What a program makes in its place belongs to no worktree; only one that others make anew holds settings that
 * it must not reach.
 */
const MAY_GO = /\/\.git\/worktrees$/;

/**
 * Tells when somebody outside replaces what the walls of a running program are mounted on: the system takes a mount away with its place, so
 * what `git config` writes anew, for example, would be open to the program.
 */
export class WallsWatch {
  readonly #identities: ReadonlyMap<string, string | null>;
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #onReplaced: ((path: string) => void) | undefined;
  #replaced: string | undefined;

  /** From now on; to be closed. */
  constructor(paths: readonly string[]) {
    this.#identities = new Map(paths.map((path) => [path, identityOf(path)]));
    for (const folder of new Set(paths.map(dirname))) this.#watch(folder);
  }

  /** Calls back once, and at once if it has happened already. */
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
        // One with the same number may have taken its place already.
        if (event === 'rename' && path !== undefined) this.#look(path, true);
      });
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // The system watches no more, or the folder is gone: looks find it.
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

/** Null: not there. */
function identityOf(path: string): string | null {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status === undefined ? null : `${status.dev}:${status.ino}`;
}
