import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the thread is given. */
export interface EndTerms {
  /** Not 0 any more: the time begins. */
  readonly signal: Int32Array;
  readonly delay_us: number;
}

/**
 * Readies a thread that kills the process while a commit keeps the main thread busy (SQLite works within the call). Resolves to what
 * starts its clock.
 */
export async function readyThread(delay_us: number): Promise<() => void> {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const terms: EndTerms = { signal, delay_us };
  const thread = new Worker(new URL('./sudden-end.ts', import.meta.url), { workerData: terms });
  await once(thread, 'message');
  // A life that ends before its kill does not wait for it.
  thread.unref();
  return () => {
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
}
