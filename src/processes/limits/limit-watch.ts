import { type FolderQuota, folderUsage } from './folder-usage.ts';
import { type Amounts, type Excess, excessOf, type Processes } from './process-usage.ts';

/** Delay before the first measurement, and minimum delay between two: most commands end before the first. */
const LOOK_MS = 250;
/** Delay after a measurement, as a multiple of its duration: measuring takes at most about a twentieth of the time. */
const SHARE = 20;
/** Upper bound of the delay, however long a measurement takes. */
const LOOK_MAX_MS = 2000;
/** With quotas, measurements come sooner, the less is left: at about the rate at which a disk's cache takes files. */
const LOOK_MIN_MS = 20;
const WRITES_MB_PER_MS = 2;

/**
 * Polls the resource usage of one command's processes, and of the folders that they write to, until it is closed or a limit is exceeded. `processes`: returns
 * undefined until they are known. Linux only: elsewhere there is no `/proc`.
 */
export class LimitWatch {
  readonly #limits: Amounts;
  readonly #processes: () => Processes | undefined;
  readonly #onExcess: (excess: Excess) => void;
  readonly #look_ms: number;
  readonly #quotas: readonly FolderQuota[];
  /** What the folders could still take when they were last counted, what had been written then, and when they are counted again, whatever is written. */
  #left_mb: number;
  #counted_mb = 0;
  #count_at_ms = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    limits: Amounts,
    processes: () => Processes | undefined,
    onExcess: (excess: Excess) => void,
    quotas: readonly FolderQuota[] = [],
    look_ms = LOOK_MS,
  ) {
    this.#quotas = quotas;
    this.#left_mb = Math.min(Infinity, ...quotas.map(({ left_mb }) => left_mb));
    this.#look_ms = look_ms;
    this.#limits = limits;
    this.#processes = processes;
    this.#onExcess = onExcess;
    if (process.platform === 'linux') this.#later(this.#soon(0));
  }

  #later(delay_ms: number): void {
    this.#timer = setTimeout(() => void this.#look(), delay_ms).unref();
  }

  async #look(): Promise<void> {
    const begun_ms = performance.now();
    const used = await this.#measure();
    const spent_ms = performance.now() - begun_ms;
    const excess = used.excess ?? (await this.#folderExcess(used.written_mb));
    if (this.#closed) return;
    if (excess !== null) return this.#onExcess(excess);
    this.#later(Math.min(Math.max(this.#soon(used.written_mb), SHARE * spent_ms), LOOK_MAX_MS));
  }

  #soon(written_mb: number): number {
    const left_ms = (this.#left_mb - (written_mb - this.#counted_mb)) / WRITES_MB_PER_MS;
    return Math.max(LOOK_MIN_MS, Math.min(this.#look_ms, left_ms));
  }

  async #measure(): ReturnType<typeof excessOf> {
    try {
      const processes = this.#processes();
      if (processes !== undefined) return await excessOf(processes, this.#limits);
    } catch {
      // the processes have ended, or are not in their namespace yet
    }
    return { excess: null, written_mb: 0 };
  }

  /** Counts folders only when they may hold too much: others write there, too, and not all that is written is reported. */
  async #folderExcess(written_mb: number): Promise<Excess | null> {
    const begun_ms = performance.now();
    if (written_mb - this.#counted_mb < this.#left_mb && begun_ms < this.#count_at_ms) return null;
    this.#left_mb = Infinity;
    for (const quota of this.#quotas) {
      const usage = await folderUsage(quota);
      const folder = quota.name;
      // All that was written may be where nothing can be counted, which may be gone before the next command.
      const [files, mb] = usage.files === Infinity ? [0, usage.mb + written_mb] : [usage.files, usage.mb];
      if (mb > quota.mb) return { limit: quota.limit, folder, used: mb, allowed: quota.mb };
      if (files > quota.files) return { limit: 'files', folder, used: files, allowed: quota.files };
      this.#left_mb = Math.min(this.#left_mb, quota.mb - mb);
    }
    this.#counted_mb = written_mb;
    const now_ms = performance.now();
    this.#count_at_ms = now_ms + Math.min(Math.max(this.#look_ms, SHARE * (now_ms - begun_ms)), LOOK_MAX_MS);
    return null;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
