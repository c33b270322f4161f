export interface SlotLimits {
  /** Slots that are held at once. */
  readonly count: number;
  /** A tree that holds none gets one beyond `count`, up to so many in sum. Default: none beyond. */
  readonly most?: number;
}

/**
 * A semaphore that trees share: a tree's own callers in order of arrival, the trees in turn, so that one with a thousand callers holds up nobody else.
 * A slot is handed over, so nobody can jump the queue.
 */
export class FairSlots {
  readonly #count: number;
  readonly #most: number;
  #running = 0;
  /** Slots by tree. */
  readonly #held = new Map<string, number>();
  /** Those who wait, by tree; the tree whose turn comes next is the first one. A set lets an aborted caller leave from the middle. */
  readonly #queues = new Map<string, Set<() => void>>();

  constructor({ count, most = count }: SlotLimits) {
    this.#count = count;
    this.#most = most;
  }

  get waiting(): number {
    return this.#queues.values().reduce((sum, queue) => sum + queue.size, 0);
  }

  /** Resolves to true once a slot is taken (return it with `release`), to false if the signal aborts first. */
  acquire(tree: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (!this.#queues.has(tree) && this.#admits(tree)) {
      this.#take(tree);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const queue = this.#queues.get(tree) ?? new Set();
      this.#queues.set(tree, queue);
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = () => {
        queue.delete(start);
        if (queue.size === 0) this.#queues.delete(tree);
        resolve(false);
      };
      queue.add(start);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Hands the slot on: to the next one, or beyond `count` to its own tree, which may now hold none. */
  release(tree: string): void {
    this.#running -= 1;
    const left = (this.#held.get(tree) ?? 1) - 1;
    if (left === 0) this.#held.delete(tree);
    else this.#held.set(tree, left);
    for (const [next, queue] of this.#queues) {
      if (this.#running >= this.#most) return;
      const [start] = queue;
      if (start === undefined || !this.#admits(next)) continue;
      // Behind the others, if more of it wait.
      this.#queues.delete(next);
      queue.delete(start);
      if (queue.size > 0) this.#queues.set(next, queue);
      this.#take(next);
      start();
    }
  }

  #admits(tree: string): boolean {
    return this.#running < this.#count || (this.#running < this.#most && !this.#held.has(tree));
  }

  #take(tree: string): void {
    this.#running += 1;
    this.#held.set(tree, (this.#held.get(tree) ?? 0) + 1);
  }
}
