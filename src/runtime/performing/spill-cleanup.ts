import { existsSync } from 'node:fs';
import { removeSpilledOutput, spillFolder, TOTAL_BYTES } from '../../processes/output/spill-folder.ts';

const INTERVAL_MS = 60_000;

/** Keeps the spilled output of all trees within its maximum size. */
export class SpillCleanup {
  readonly #folder: string;
  #last_ms = Number.NEGATIVE_INFINITY;
  #running: Promise<unknown> = Promise.resolve();

  constructor(spill_dir: string) {
    this.#folder = spillFolder(spill_dir);
  }

  /** Called after each call that may have written output; cleans up at most once a minute. */
  cleanIfDue(): void {
    const now_ms = performance.now();
    if (now_ms - this.#last_ms < INTERVAL_MS) return;
    this.#last_ms = now_ms;
    if (!existsSync(this.#folder)) return;
    // A folder that cannot be read or changed is reported by the calls that spill into it.
    this.#running = removeSpilledOutput(this.#folder, { keep_bytes: TOTAL_BYTES }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#running;
  }
}
