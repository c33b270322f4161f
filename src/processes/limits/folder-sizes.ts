import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Of a folder with more, the size is that of so many. */
const ENTRIES_MAX = 100_000;
/** A measurement takes at most one part in so many of the time, and is good for this long. */
const SHARE = 20;
const GOOD_MS = 1000;
const FOLDERS_MAX = 1000;

/** How much folders hold on disk, measured now and then. */
export class FolderSizes {
  readonly #known = new Map<string, { readonly bytes: number; readonly next_at_ms: number }>();
  readonly #measuring = new Map<string, Promise<number>>();

  /** As last measured; measured now where that was more than `limit_bytes`, since some may have been removed. */
  async bytes(folder: string, limit_bytes: number): Promise<number> {
    const { bytes = 0 } = this.#known.get(folder) ?? {};
    return bytes > limit_bytes ? this.#measure(folder) : bytes;
  }

  /** To be called when something may have been written: measures unless that was done a moment ago. */
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

/** Never throws: what cannot be read counts nothing. */
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
