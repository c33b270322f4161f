import { setImmediate } from 'node:timers/promises';

/** Settles as `settling` does if that needs neither I/O nor a timer; rejects if it is still pending when the event loop turns. */
export function atOnce<T>(settling: Promise<T>): Promise<T> {
  const turn = setImmediate().then(() => Promise.reject(new Error('it waits for something')));
  return Promise.race([settling, turn]);
}
