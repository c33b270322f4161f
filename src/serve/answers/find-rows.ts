import { CoppiceError } from '../../records/coppice-error.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import type { KnownWorker, Store } from '../../store/store.ts';

/** Finds deliveries by id, unique prefix or subject (`about`); all of them must have the same subject. Rejects with `E_DELIVERY_NOT_FOUND`. */
export async function findDeliveries(store: Store, text: string): Promise<Delivery[]> {
  const found = await store.findDeliveries(text);
  const alike = new Set(found.map(({ about, id }) => about ?? id));
  if (found.length > 0 && alike.size === 1) return found;
  throw new CoppiceError(
    'E_DELIVERY_NOT_FOUND',
    found.length === 0 ? `no delivery "${text}"` : `"${text}" matches ${found.length} deliveries`,
    { hint: found.length === 0 ? 'See: coppice deliveries list' : 'Use a longer id.' },
  );
}

/** Finds a worker by id or unique prefix. Throws `E_WORKER_NOT_FOUND`. */
export function findWorker(workers: readonly KnownWorker[], text: string): KnownWorker {
  const matches = workers.filter(({ id, role }) => role === 'worker' && id.startsWith(text.toLowerCase()));
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return only;
  const what = matches.length === 0 ? `no worker "${text}"` : `"${text}" matches ${matches.length} workers`;
  throw new CoppiceError('E_WORKER_NOT_FOUND', what, { hint: 'See: coppice worker list' });
}
