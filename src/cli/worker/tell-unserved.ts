import type { Store } from '../../store/store.ts';
import { livingWorkers } from './leaders.ts';

/** A timer that nobody looks at must not look as if it ran. */
export async function tellUnserved(store: Store): Promise<void> {
  if ((await livingWorkers(store)).some(({ role }) => role === 'serve')) return;
  process.stderr.write('nothing fires it yet: start coppice serve (and keep it running)\n');
}
