import type { DeliveryStatus } from '../../records/run/delivery.ts';
import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';
import { deliveryJson } from './delivery-json.ts';
import { deliveryTable } from './delivery-table.ts';
import { tellUndelivered } from './tell-undelivered.ts';

/** `coppice deliveries list`. */
export function deliveriesList(
  context: Context,
  options: { readonly status?: DeliveryStatus; readonly limit: number },
): Promise<number> {
  return withStore(context, async (store) => {
    const found = await store.deliveries(options);
    if (context.json) {
      printJson({ schema: 'coppice/deliveries/v1', deliveries: found.map(deliveryJson) });
      return 0;
    }
    if (found.length === 0) {
      process.stdout.write('no deliveries\n');
      return 0;
    }
    process.stdout.write(`${deliveryTable(found, Date.now(), context.width, context.out).join('\n')}\n`);
    await tellUndelivered(store, found);
    return 0;
  });
}
