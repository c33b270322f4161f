// As a whole: the bundle takes no names that are getters.
import hooks from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long the event loop is held at once: this process leads agents meanwhile. */
const SLICE_MS = 4;

/** CPU time of this thread while a piece of work held it. */
class Meter {
  #since: NodeJS.CpuUsage | null = null;
  ms = 0;

  start(): void {
    this.#since = process.threadCpuUsage();
  }

  stop(): void {
    if (this.#since === null) return;
    const { user, system } = process.threadCpuUsage(this.#since);
    this.ms += (user + system) / 1_000;
    this.#since = null;
  }
}

const meters = new hooks.AsyncLocalStorage<Meter>();

/** Does the work, and tells how many milliseconds of CPU it took; what others do while it waits for PostgreSQL counts, too. */
export async function metered<T>(work: () => Promise<T>, onSpent: (cpu_ms: number) => void): Promise<T> {
  const meter = new Meter();
  meter.start();
  try {
    return await meters.run(meter, work);
  } finally {
    meter.stop();
    onSpent(meter.ms);
  }
}

/** Waits for what others do; their CPU time does not count. */
export async function unmetered<T>(others: Promise<T>): Promise<T> {
  const meter = meters.getStore();
  meter?.stop();
  try {
    return await others;
  } finally {
    meter?.start();
  }
}

/** Lets others go on. */
export function pause(): Promise<void> {
  return unmetered(nextTurn());
}

/** Long work in slices. */
export class Slices {
  #began = performance.now();

  /** Lets others go on if this slice has been long enough. */
  async next(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await pause();
    this.#began = performance.now();
  }
}
