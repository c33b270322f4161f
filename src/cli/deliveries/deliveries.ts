import { deliveryJson } from '../../documents/delivery-json.ts';
import type { Delivery, DeliveryStatus } from '../../records/run/delivery.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { findDeliveries } from '../../serve/api/find-rows.ts';
import { tellUndelivered } from '../../serve/leading/leaders.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';

const HEAD = ['DELIVERY', 'KIND', 'TO', 'STATUS', 'TRIES', 'AGE', 'NEXT, OR WHY NOT'] as const;
const ID_COLUMNS = 18;
const TARGET_COLUMNS = 32;

export interface ListOptions {
  readonly status?: DeliveryStatus;
  readonly limit: number;
}

/** `coppice deliveries list`. */
export function deliveriesList(context: Context, options: ListOptions): Promise<number> {
  return withStore(context, async (store) => {
    const found = await store.deliveries(options);
    if (context.json) printJson({ schema: 'coppice/deliveries/v1', deliveries: found.map(deliveryJson) });
    else {
      printLines(found.length === 0 ? ['no deliveries'] : deliveryTable(context, found));
      await tellUndelivered(store, found);
    }
    return 0;
  });
}

/** The ids are shortened to what tells the run or reply apart. */
function deliveryTable({ width, out: style }: Context, deliveries: readonly Delivery[]): string[] {
  const now = Date.now();
  const rows = deliveries.map((delivery) => [
    clean(delivery.id).slice(0, ID_COLUMNS),
    delivery.kind,
    fit(clean(delivery.target), TARGET_COLUMNS, style),
    stateMark(delivery.status, style),
    String(delivery.attempts),
    duration(now - delivery.created_at),
    nextOrWhyNot(delivery, now),
  ]);
  return tableLines(HEAD, rows, { width, right: new Set([4, 5]), style });
}

function nextOrWhyNot({ status, next_at, error }: Delivery, now: number): string {
  const reason = clean(error ?? '');
  if (status !== 'pending' || next_at <= now) return reason;
  return `in ${duration(next_at - now)}${reason === '' ? '' : `: ${reason}`}`;
}

/** `coppice deliveries retry [ID…]`: makes them due at once; coppice serve sends them. */
export function deliveriesRetry(context: Context, texts: readonly string[]): Promise<number> {
  return withStore(context, async (store) => {
    const found: Delivery[] = [];
    for (const text of texts) found.push(...(await findDeliveries(store, text)));
    const ids = found.map(({ id }) => id);
    const count = await store.retryDeliveries(texts.length === 0 ? null : ids, await store.now());
    if (context.json) printJson({ schema: 'coppice/deliveries-retried/v1', retried: count });
    else printLines([count === 0 ? 'nothing to try again' : `${count} will be tried again now`]);
    if (count > 0) await tellUndelivered(store, await store.deliveries({ status: 'pending', limit: 1 }));
    return 0;
  });
}
