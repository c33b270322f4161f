import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Data that the thread is started with. */
interface KillTerms {
  /** The delay begins when this is no longer 0. */
  readonly signal: Int32Array;
  readonly delay_us: number;
}

/**
 * Starts a thread that kills the process while a commit keeps the main thread busy (SQLite works within the call). Resolves to a function
 * that starts the thread's delay.
 */
export async function readyThread(delay_us: number): Promise<() => void> {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const terms: KillTerms = { signal, delay_us };
  const thread = new Worker(import.meta.filename, { workerData: terms });
  await once(thread, 'message');
  // A process that ends before its kill does not wait for it.
  thread.unref();
  return () => {
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
}

if (!isMainThread) {
  const { signal, delay_us } = workerData as KillTerms;
  parentPort?.postMessage('ready');
  Atomics.wait(signal, 0, 0);
  if (delay_us > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delay_us / 1_000);
  process.kill(process.pid, 'SIGKILL');
}
