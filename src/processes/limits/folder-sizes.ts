import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Maximum entries measured in a folder; the rest does not count. */
const ENTRIES_MAX = 100_000;
/** Pause after a measurement: SHARE times its duration, at least GOOD_MS. */
const SHARE = 20;
const GOOD_MS = 1000;
const FOLDERS_MAX = 1000;

/** Sizes of folders on disk, measured from time to time. */
export class FolderSizes {
  readonly #known = new Map<string, { readonly bytes: number; readonly next_at_ms: number }>();
  readonly #measuring = new Map<string, Promise<number>>();

  /** Returns the last measured size (0 if there is none); measures anew if that exceeds `limit_bytes`, since files may have been removed meanwhile. */
  async bytes(folder: string, limit_bytes: number): Promise<number> {
    const { bytes = 0 } = this.#known.get(folder) ?? {};
    return bytes > limit_bytes ? this.#measure(folder) : bytes;
  }

  /** Call this when something may have been written: starts a measurement unless the last one is recent. */
  refresh(folder: string): void {
    const known = this.#known.get(folder);
    if (known === undefined || known.next_at_ms <= performance.now()) void this.#measure(folder);
  }

  async #measure(folder: string): Promise<number> {
    const running = this.#measuring.get(folder);
    if (running !== undefined) return running;
    const begun_ms = performance.now();
    const measuring = bytesIn(folder);
    this.#measuring.set(folder, measuring);
    const bytes = await measuring;
    this.#measuring.delete(folder);
    const now_ms = performance.now();
    const pause_ms = Math.max(GOOD_MS, SHARE * (now_ms - begun_ms));
    if (this.#known.size >= FOLDERS_MAX) this.#known.clear();
    this.#known.set(folder, { bytes, next_at_ms: now_ms + pause_ms });
    return bytes;
  }
}

/** Never throws: what cannot be read counts as 0 bytes. */
async function bytesIn(folder: string): Promise<number> {
  let [bytes, entries] = [0, 0];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && entries < ENTRIES_MAX; next = folders.pop())
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      bytes += await lstat(path).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      );
      entries += 1;
      if (entries >= ENTRIES_MAX) break;
    }
  return bytes;
}
