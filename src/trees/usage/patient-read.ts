import { sleep } from '../../processes/waiting.ts';

const FRESH_MS = 2_000;
/** Maximum time for which an answer waits for history that has not been read yet. */
const PATIENCE_MS = 3_000;

/** A read of history that concurrent callers share, and that each waits for only up to `PATIENCE_MS`. */
export class SharedRead {
  readonly #read: () => Promise<void>;
  #reading: Promise<void> | null = null;
  #read_at = Number.NEGATIVE_INFINITY;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Resolves to false if the read is still under way, so that a later call may find more. Rejects if the read does. */
  async soon(): Promise<boolean> {
    if (this.#reading === null) {
      if (performance.now() - this.#read_at < FRESH_MS) return true;
      this.#reading = this.#readOnce().finally(() => {
        this.#reading = null;
      });
    }
    const done = new AbortController();
    const late = sleep(PATIENCE_MS, done.signal).then(() => false);
    try {
      return await Promise.race([this.#reading.then(() => true), late]);
    } finally {
      done.abort();
    }
  }

  async #readOnce(): Promise<void> {
    await this.#read();
    this.#read_at = performance.now();
  }
}
