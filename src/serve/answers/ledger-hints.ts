import { randomUUID } from 'node:crypto';
import { sleep } from '../../processes/waiting.ts';
import type { Store } from '../../store/store.ts';

export interface Hints {
  /** Resolves at the next hint, or after `ms` or the usual time: hints may be lost. One that came since the last call counts. Rejects when none come any more. */
  readonly next: (ms?: number) => Promise<void>;
  /** Ends the call of `next` that is under way. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

/** Hints that something has changed, for whoever reads it again and again. `listen` resolves to what ends it; a hint may be an error. */
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
