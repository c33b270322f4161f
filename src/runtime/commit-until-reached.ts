import type { Step, Verdict } from '../store/store.ts';
import type { ExecutorOptions } from './executor-options.ts';

/** How long to wait before steps are offered again to a ledger that cannot be reached. */
const RETRY_MS = [100, 300, 1000, 3000, 5000];

/** A ledger that cannot be reached loses nothing: the same steps are offered until it answers. Null when closed meanwhile. */
export async function commitUntilReached(
  { store, emit, surroundings }: Pick<ExecutorOptions, 'store' | 'emit' | 'surroundings'>,
  steps: readonly Step[],
  isClosed: () => boolean,
): Promise<Verdict[] | null> {
  for (let tries = 0; !isClosed(); tries += 1) {
    try {
      const verdicts = await store.commit(steps);
      if (tries > 0) emit({ type: 'ledger', reachable: true, text: 'the ledger can be reached again' });
      return verdicts;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      emit({ type: 'ledger', reachable: false, text });
      const pause_ms = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] as number;
      await new Promise<void>((resolve) => surroundings.after(pause_ms, resolve));
    }
  }
  return null;
}
