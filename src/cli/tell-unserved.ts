import type { Store } from '../store/store.ts';

/** A timer that nobody looks at must not look as if it ran. */
export async function tellUnserved(store: Store): Promise<void> {
  const served = (await store.workers()).some(({ role }) => role === 'serve');
  if (!served) process.stderr.write('nothing fires it yet: start coppice serve (and keep it running)\n');
}
