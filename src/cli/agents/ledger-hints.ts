import { randomUUID } from 'node:crypto';
import { sleep } from '../../processes/waiting.ts';
import type { Store } from '../../store/store.ts';

export interface LedgerHints {
  /** Resolves at the next hint, or after `ms`: hints may be lost. One that came since the last call counts. */
  readonly next: (ms: number) => Promise<void>;
  /** Ends the call of `next` that is under way. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

/** Hints that another process has written to the ledger, for commands that read it again and again. */
export async function ledgerHints(store: Store): Promise<LedgerHints> {
  let hint = new AbortController();
  const wake = (): void => hint.abort();
  const stop = await store.listen(randomUUID(), wake);
  const next = async (ms: number): Promise<void> => {
    await sleep(ms, hint.signal);
    hint = new AbortController();
  };
  return { next, wake, stop };
}
