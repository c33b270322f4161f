import type { Delivery } from '../../records/run/delivery.ts';
import type { Store } from '../../store/store.ts';

/** What waits for a process that delivers must not look as if it were on its way. */
export async function tellUndelivered(store: Store, deliveries: readonly Delivery[]): Promise<void> {
  if (!deliveries.some(({ status }) => status === 'pending')) return;
  const served = (await store.workers()).some(({ role }) => role === 'serve');
  if (!served) process.stderr.write('nothing delivers now: start coppice serve (and keep it running)\n');
}
