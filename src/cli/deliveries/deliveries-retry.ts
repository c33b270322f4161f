import { CoppiceError } from '../../records/coppice-error.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';
import { tellUndelivered } from './tell-undelivered.ts';

/** `coppice deliveries retry [ID…]`: due at once; coppice serve sends them. */
export function deliveriesRetry(context: Context, texts: readonly string[]): Promise<number> {
  return withStore(context, async (store) => {
    const found: Delivery[] = [];
    for (const text of texts) found.push(...(await findDeliveries(store, text)));
    const ids = found.map(({ id }) => id);
    const count = await store.retryDeliveries(texts.length === 0 ? null : ids, await store.now());
    if (context.json) printJson({ schema: 'coppice/deliveries-retried/v1', retried: count });
    else process.stdout.write(count === 0 ? 'nothing to try again\n' : `${count} will be tried again now\n`);
    if (count > 0) await tellUndelivered(store, await store.deliveries({ status: 'pending', limit: 1 }));
    return 0;
  });
}

async function findDeliveries(store: Store, text: string): Promise<Delivery[]> {
  const found = await store.findDeliveries(text);
  const alike = new Set(found.map(({ about, id }) => about ?? id));
  if (found.length > 0 && alike.size === 1) return found;
  throw new CoppiceError(
    'E_DELIVERY_NOT_FOUND',
    found.length === 0 ? `no delivery "${text}"` : `"${text}" matches ${found.length} deliveries`,
    { hint: found.length === 0 ? 'See: coppice deliveries list' : 'Use a longer id.' },
  );
}
