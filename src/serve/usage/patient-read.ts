import { sleep } from '../../processes/waiting.ts';

const FRESH_MS = 2_000;
/** An answer waits so long for history that was not read yet. */
const PATIENCE_MS = 3_000;

/** A read of history that those who ask at the same time share, and that nobody waits for without end. */
export class PatientRead {
  readonly #read: () => Promise<void>;
  #reading: Promise<void> | null = null;
  #read_at = Number.NEGATIVE_INFINITY;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** False: it goes on, and the next question may find more. Rejects as the read does. */
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
