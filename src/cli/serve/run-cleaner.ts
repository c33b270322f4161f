import type { Store } from '../../store/store.ts';

const LOOK_MS = 5_000;
const MOST_AT_ONCE = 100;

/** Deletes conversations of runs with `cleanup: delete` once everybody has heard of their end. */
export class RunCleaner {
  readonly #store: Store;
  readonly #onTrouble: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  constructor(store: Store, onTrouble: (error: unknown) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#clean());
    }, LOOK_MS);
  }

  async #clean(): Promise<void> {
    try {
      while ((await this.#store.cleanRuns(await this.#store.now(), MOST_AT_ONCE)).length === MOST_AT_ONCE);
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
    await this.#clean();
  }
}
