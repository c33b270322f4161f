interface Waiting {
  readonly start: () => void;
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
}

/**
 * A semaphore for running processes, first come, first served: a thousand simultaneous calls must not exhaust file descriptors
 * and process ids.
 */
export class ProcessSlots {
  #free: number;
  /** A set keeps the order of arrival and lets an aborted waiter leave from the middle. */
  readonly #queue = new Set<Waiting>();

  constructor(count: number) {
    this.#free = count;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Resolves to true once a slot is taken (return it with `release`), to false if the signal aborts first. */
  acquire(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        signal,
        start: () => resolve(true),
        onAbort: () => {
          this.#queue.delete(waiting);
          resolve(false);
        },
      };
      this.#queue.add(waiting);
      signal.addEventListener('abort', waiting.onAbort, { once: true });
    });
  }

  /** Hands the slot to the longest waiting caller. */
  release(): void {
    for (const next of this.#queue) {
      this.#queue.delete(next);
      next.signal.removeEventListener('abort', next.onAbort);
      next.start();
      return;
    }
    this.#free += 1;
  }
}
