import { setImmediate } from 'node:timers/promises';

/** What it settles to before the event loop turns: without an answer from anybody, and without a timer. Rejects otherwise. */
export function atOnce<T>(settling: Promise<T>): Promise<T> {
  const turn = setImmediate().then(() => Promise.reject(new Error('it waits for something')));
  return Promise.race([settling, turn]);
}
