import { randomUUID } from 'node:crypto';
import { sleep } from '../processes/waiting.ts';
import type { Store } from '../store/store.ts';

export interface Hints {
  /**
   * Resolves at the next hint, at once if one came since the last call, and at the latest after `ms` or the usual interval, because hints may be lost.
   * Rejects once the source of hints has failed.
   */
  readonly next: (ms?: number) => Promise<void>;
  /** Resolves the pending call of `next`. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

/** Hints of changes, for a poll loop. `listen` resolves to a function that stops listening; a hint with an error makes `next` reject. */
export async function hintsOf(
  listen: (wake: (error?: unknown) => void) => Promise<() => Promise<void>>,
  usual_ms: number,
): Promise<Hints> {
  let hint = new AbortController();
  let failed: unknown;
  const wake = (): void => hint.abort();
  const stop = await listen((error) => {
    failed ??= error;
    wake();
  });
  const next = async (ms = usual_ms): Promise<void> => {
    await sleep(Math.min(ms, usual_ms), hint.signal);
    hint = new AbortController();
    if (failed !== undefined) throw failed;
  };
  return { next, wake, stop };
}

/** Hints that another process has written to the ledger. */
export function ledgerHints(store: Store, usual_ms: number): Promise<Hints> {
  return hintsOf((wake) => store.listen(randomUUID(), () => wake()), usual_ms);
}
