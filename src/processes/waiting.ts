import { setTimeout as timer } from 'node:timers/promises';

/** Waiting: the clock that waits are measured with, sleeping, time limits, and back-off between tries. */

/** A test brings its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rings once after `ms`; what it returns cancels that. */
  after(ms: number, ring: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  after(ms, ring) {
    const timeout = setTimeout(ring, ms);
    return () => clearTimeout(timeout);
  },
};

/** Resolves after `ms`, or as soon as the signal aborts: then to false. Never rejects. */
export async function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms > 0) await timer(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** What `work` comes to, unless the signal aborts or `limit_ms` passes first. The work itself goes on then, so it must not reject. */
export async function within<T>(
  work: Promise<T>,
  signal: AbortSignal,
  limit_ms: number,
): Promise<
  { readonly type: 'done'; readonly value: T } | { readonly type: 'aborted' } | { readonly type: 'late' }
> {
  if (signal.aborted) return { type: 'aborted' };
  const done = new AbortController();
  const cut = sleep(limit_ms, AbortSignal.any([signal, done.signal]));
  const outcome = await Promise.race([
    work.then((value) => ({ type: 'done', value }) as const),
    cut.then((passed) => ({ type: passed ? 'late' : 'aborted' }) as const),
  ]);
  done.abort();
  return outcome;
}

/** Milliseconds to wait after the `tries`th try has failed: `base_ms`, doubled from try to try up to `max_ms`, with full jitter. `random`: 0 ≤ x < 1. */
export function backOff(
  tries: number,
  { base_ms, max_ms }: { readonly base_ms: number; readonly max_ms: number },
  random: () => number = Math.random,
): number {
  return random() * Math.min(base_ms * 2 ** (tries - 1), max_ms);
}
