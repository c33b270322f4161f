interface Timer {
  readonly at: number;
  readonly order: number;
  readonly ring: () => void;
  is_off: boolean;
}

/** Time that passes only when nothing else can happen. */
export class FakeTime {
  now = 0;
  #order = 0;
  /** A heap: the earliest first. */
  readonly #timers: Timer[] = [];

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      this.#order += 1;
      const timer = { at: this.now + Math.max(0, ms), order: this.#order, ring: resolve, is_off: false };
      this.#add(timer);
      signal?.addEventListener('abort', () => {
        timer.is_off = true;
        resolve();
      });
    });

  /** Runs until `done` or until nothing is left to wait for. */
  async run(done: Promise<unknown>): Promise<void> {
    let over = false;
    void done.finally(() => {
      over = true;
    });
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (over) return;
      while (this.#timers[0]?.is_off) this.#take();
      if (this.#timers[0] === undefined) throw new Error('everybody waits for nothing');
      this.now = this.#timers[0].at;
      while ((this.#timers[0]?.at ?? Number.POSITIVE_INFINITY) <= this.now) {
        const timer = this.#take();
        if (!timer.is_off) timer.ring();
      }
    }
  }

  #add(timer: Timer): void {
    const heap = this.#timers;
    let place = heap.push(timer) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isEarlier(timer, heap[above] as Timer)) break;
      heap[place] = heap[above] as Timer;
      place = above;
    }
    heap[place] = timer;
  }

  #take(): Timer {
    const heap = this.#timers;
    const [first] = heap as [Timer];
    const last = heap.pop() as Timer;
    if (heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isEarlier(heap[below + 1] as Timer, heap[below] as Timer)) below += 1;
      if (!isEarlier(heap[below] as Timer, last)) break;
      heap[place] = heap[below] as Timer;
      place = below;
    }
    heap[place] = last;
    return first;
  }
}

function isEarlier(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
