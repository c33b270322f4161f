// Default import: the bundle cannot import names that are getters.
import hooks from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum time for which the event loop is held at once; this process also leads agents. */
const SLICE_MS = 4;

/** CPU time of this thread during a piece of work. */
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

/** Runs the work and reports its CPU time in milliseconds, which includes what else runs while the work waits for PostgreSQL. */
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

/** Awaits the work of others without counting CPU time. */
export async function unmetered<T>(others: Promise<T>): Promise<T> {
  const meter = meters.getStore();
  meter?.stop();
  try {
    return await others;
  } finally {
    meter?.start();
  }
}

/** Yields to the event loop. */
export function pause(): Promise<void> {
  return unmetered(nextTurn());
}

/** Divides long work into slices. */
export class Slices {
  #began = performance.now();

  /** Yields to the event loop if this slice has taken its time. */
  async next(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await pause();
    this.#began = performance.now();
  }
}
