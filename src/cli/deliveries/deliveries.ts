import { deliveryJson } from '../../documents/delivery-json.ts';
import type { DeliveryDocument } from '../../documents/shapes/document-parts.ts';
import type { Delivery, DeliveryStatus } from '../../records/run/delivery.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { findDeliveries } from '../../serve/api/find-rows.ts';
import { tellUndelivered } from '../../serve/leading/leaders.ts';
import type { Store } from '../../store/store.ts';
import { type Context, fromEither } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';

const HEAD = ['DELIVERY', 'KIND', 'TO', 'STATUS', 'TRIES', 'AGE', 'NEXT, OR WHY NOT'] as const;
const ID_COLUMNS = 18;
const TARGET_COLUMNS = 32;

export interface ListOptions {
  readonly status?: DeliveryStatus;
  readonly limit: number;
}

/** `coppice deliveries list`. */
export async function deliveriesList(context: Context, options: ListOptions): Promise<number> {
  const deliveries = await fromEither<readonly DeliveryDocument[]>(
    context,
    async (store) => {
      const found = await store.deliveries(options);
      if (!context.json) await tellUndelivered(store, found);
      return found.map(deliveryJson);
    },
    async (client) => (await client.deliveries({ status: options.status, limit: options.limit })).deliveries,
  );
  if (context.json) printJson({ schema: 'coppice/deliveries/v1', deliveries });
  else printLines(deliveries.length === 0 ? ['no deliveries'] : deliveryTable(context, deliveries));
  return 0;
}

/** The ids are shortened to what tells the run or reply apart. */
function deliveryTable({ width, out: style }: Context, deliveries: readonly DeliveryDocument[]): string[] {
  const now = Date.now();
  const rows = deliveries.map((delivery) => [
    clean(delivery.id).slice(0, ID_COLUMNS),
    delivery.kind,
    fit(clean(delivery.target), TARGET_COLUMNS, style),
    stateMark(delivery.status, style),
    String(delivery.attempts),
    duration(now - Date.parse(delivery.created_at)),
    nextOrWhyNot(delivery, now),
  ]);
  return tableLines(HEAD, rows, { width, right: new Set([4, 5]), style });
}

function nextOrWhyNot({ next_at, error }: DeliveryDocument, now: number): string {
  const reason = clean(error ?? '');
  const left = next_at === null ? 0 : Date.parse(next_at) - now;
  return left <= 0 ? reason : `in ${duration(left)}${reason === '' ? '' : `: ${reason}`}`;
}

/** `coppice deliveries retry [ID…]`: makes them due at once; coppice serve sends them. */
export async function deliveriesRetry(context: Context, texts: readonly string[]): Promise<number> {
  const { retried } = await fromEither(
    context,
    (store) => retryHere(store, texts),
    (client) => client.retryDeliveries(texts.length === 0 ? {} : { deliveries: [...texts] }),
  );
  if (context.json) printJson({ schema: 'coppice/deliveries-retried/v1', retried });
  else printLines([retried === 0 ? 'nothing to try again' : `${retried} will be tried again now`]);
  return 0;
}

async function retryHere(store: Store, texts: readonly string[]): Promise<{ readonly retried: number }> {
  const found: Delivery[] = [];
  for (const text of texts) found.push(...(await findDeliveries(store, text)));
  const ids = found.map(({ id }) => id);
  const retried = await store.retryDeliveries(texts.length === 0 ? null : ids, await store.now());
  if (retried > 0) await tellUndelivered(store, await store.deliveries({ status: 'pending', limit: 1 }));
  return { retried };
}
