import { setTimeout as timer } from 'node:timers/promises';

/** Waiting: the clock by which waits are measured, sleeping, timeouts, and back-off between tries. */

/** The source of time; tests inject their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `ring` once after `ms`; the returned function cancels that. */
  after(ms: number, ring: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  after(ms, ring) {
    const timeout = setTimeout(ring, ms);
    return () => clearTimeout(timeout);
  },
};

/** Resolves to true after `ms`, or to false as soon as the signal aborts. Never rejects. */
export async function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms > 0) await timer(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** Waits for the result of `work` until the signal aborts or `limit_ms` passes. `work` itself continues then, so it must not reject. */
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

/** How soon a thread that works is looked at, and how often. */
const LOOK_MS = 200;

/**
 * Calls `late` when the thread has worked for `limit_ms`, until the returned function is called. On a busy machine, or one that slept, a thread may only have
 * waited for its turn. Its end is told by the thread itself.
 */
export function afterWork(
  worker: { readonly cpuUsage: () => Promise<{ readonly user: number; readonly system: number }> },
  limit_ms: number,
  late: () => void,
): () => void {
  let [since, is_over]: [number | null, boolean] = [null, false];
  const look = async () => {
    const { user, system } = await worker.cpuUsage();
    const worked_ms = (user + system) / 1000;
    since ??= worked_ms;
    if (!is_over && worked_ms - since >= limit_ms) late();
  };
  const looks = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  return () => {
    is_over = true;
    clearInterval(looks);
  };
}

/** Milliseconds to wait after the `tries`th try has failed: `base_ms`, doubled from try to try up to `max_ms`, with full jitter. `random`: 0 ≤ x < 1. */
export function backOff(
  tries: number,
  { base_ms, max_ms }: { readonly base_ms: number; readonly max_ms: number },
  random: () => number = Math.random,
): number {
  return random() * Math.min(base_ms * 2 ** (tries - 1), max_ms);
}
