import { countIn, keptIn } from '../records/kept-in.ts';

export interface SlotLimits {
  /** Maximum slots held at once; read anew each time. */
  readonly count: number;
  /** Upper bound beyond `count`: a tree that holds no slot still gets one until this many are held in total. Default: `count`. */
  readonly most?: number;
  readonly taken?: () => void;
}

/**
 * A semaphore that trees share fairly: first come, first served within a tree, round-robin between trees, so that one with a thousand callers blocks no
 * other. A freed slot is handed directly to a waiting caller, so nobody can jump the queue.
 */
export class FairSlots {
  readonly #limits: SlotLimits;
  #running = 0;
  /** Number of slots that each tree holds. */
  readonly #held = new Map<string, number>();
  /** Waiting callers by tree; the tree whose turn is next comes first. A set lets an aborted caller leave from the middle. */
  readonly #queues = new Map<string, Set<() => void>>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#queues.values().reduce((sum, queue) => sum + queue.size, 0);
  }

  /** Resolves to true once a slot is taken (return it with `release`), to false if the signal aborts first. `onWait`: called if none is free. */
  acquire(tree: string, signal: AbortSignal, onWait?: () => void): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (!this.#queues.has(tree) && this.#admits(tree)) {
      this.#take(tree);
      return Promise.resolve(true);
    }
    onWait?.();
    return new Promise((resolve) => {
      const queue = keptIn(this.#queues, tree, () => new Set());
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

  release(tree: string): void {
    this.#running -= 1;
    countIn(this.#held, tree, -1);
    this.hand();
  }

  /** Hands free slots to the next waiting trees, or beyond `count` only to trees that hold none. Call it when the limits have changed. */
  hand(): void {
    for (const [next, queue] of this.#queues) {
      if (this.#running >= this.#most()) return;
      const [start] = queue;
      if (start === undefined || !this.#admits(next)) continue;
      // A tree with more waiting callers moves to the end of the queue.
      this.#queues.delete(next);
      queue.delete(start);
      if (queue.size > 0) this.#queues.set(next, queue);
      this.#take(next);
      start();
    }
  }

  #admits(tree: string): boolean {
    return this.#running < this.#limits.count || (this.#running < this.#most() && !this.#held.has(tree));
  }

  #most(): number {
    return this.#limits.most ?? this.#limits.count;
  }

  #take(tree: string): void {
    this.#running += 1;
    countIn(this.#held, tree, 1);
    this.#limits.taken?.();
  }
}
