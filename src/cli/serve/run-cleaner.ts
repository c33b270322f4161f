import type { Store } from '../../store/store.ts';

const INTERVAL_MS = 5_000;
const BATCH = 100;

/** Deletes conversations of runs with `cleanup: delete` once all deliveries about them have arrived. */
export class RunCleaner {
  readonly #store: Store;
  readonly #onTrouble: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #cleaning: Promise<void> = Promise.resolve();

  constructor(store: Store, onTrouble: (error: unknown) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#cleaning = this.#cleaning.then(() => this.#clean());
    }, INTERVAL_MS);
  }

  async #clean(): Promise<void> {
    try {
      while ((await this.#store.cleanRuns(await this.#store.now(), BATCH)).length === BATCH);
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#cleaning;
    await this.#clean();
  }
}
