import type { Step, Store, Verdict } from '../store/store.ts';
import type { RuntimeEvent } from './runtime-event.ts';

/** How long to wait before steps are offered again to a ledger that cannot be reached. */
const RETRY_MS = [100, 300, 1000, 3000, 5000];

/** A ledger that cannot be reached loses nothing: the same steps are offered until it answers. Null when closed meanwhile. */
export async function commitUntilReached(
  store: Store,
  steps: readonly Step[],
  isClosed: () => boolean,
  emit: (event: RuntimeEvent) => void,
): Promise<Verdict[] | null> {
  for (let tries = 0; !isClosed(); tries += 1) {
    try {
      const verdicts = await store.commit(steps);
      if (tries > 0) emit({ type: 'ledger', reachable: true, text: 'the ledger can be reached again' });
      return verdicts;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      emit({ type: 'ledger', reachable: false, text });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]));
    }
  }
  return null;
}
