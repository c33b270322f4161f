import { StoreError } from '../../store/store-error.ts';
import type { ExecutorOptions } from './executor-options.ts';

/** Back-off between tries; the last pause repeats. */
const RETRY_MS = [100, 300, 1000, 3000, 5000];

/** Retries `ask` until the ledger answers, and emits events that it cannot be reached. Resolves to null if `isOver` meanwhile. */
export async function retryUntilReachable<T>(
  { emit, clock }: Pick<ExecutorOptions, 'emit' | 'clock'>,
  ask: () => Promise<T>,
  isOver: () => boolean,
): Promise<{ readonly answer: T } | null> {
  for (let tries = 0; !isOver(); tries += 1) {
    try {
      const answer = await ask();
      if (tries > 0) emit({ type: 'ledger', reachable: true, text: 'the ledger can be reached again' });
      return { answer };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const more =
        error instanceof StoreError && error.code === 'E_DB_GONE'
          ? ''
          : '; work is paused and resumes automatically; nothing is lost';
      emit({ type: 'ledger', reachable: false, text: text + more });
      const pause_ms = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] as number;
      await new Promise<void>((resolve) => clock.after(pause_ms, resolve));
    }
  }
  return null;
}
