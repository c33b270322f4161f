import type { DeliveryDocument } from '../../documents/shapes/document-parts.ts';
import type { DeliveryStatus } from '../../records/run/delivery.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { tableLines } from '../../render/table.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { tellUndelivered } from '../setup/no-server-notices.ts';
import { printResult } from '../setup/output.ts';

const HEAD = ['DELIVERY', 'KIND', 'TO', 'STATUS', 'TRIES', 'AGE', 'NEXT, OR WHY NOT'] as const;
const ID_COLUMNS = 18;

interface ListOptions {
  readonly status?: DeliveryStatus;
  readonly limit: number;
}

/** `coppice deliveries list`. */
export function deliveriesList(context: Context, { status, limit }: ListOptions): Promise<number> {
  return ask(context, async (asked) => {
    const document = await asked.deliveries({ status, limit });
    const { deliveries } = document;
    if (!context.json) await tellUndelivered(context, asked, deliveries);
    return printResult(context, document, () =>
      deliveries.length === 0 ? ['no deliveries'] : deliveryTable(context, deliveries),
    );
  });
}

/** Table of deliveries; ids are cut to the part that distinguishes the run or reply. */
function deliveryTable({ width, out: style }: Context, deliveries: readonly DeliveryDocument[]): string[] {
  const now = Date.now();
  const rows = deliveries.map((delivery) => [
    clean(delivery.id).slice(0, ID_COLUMNS),
    delivery.kind,
    clean(delivery.target),
    stateMark(delivery.status, style),
    String(delivery.attempts),
    duration(now - Date.parse(delivery.created_at)),
    nextOrWhyNot(delivery, now),
  ]);
  return tableLines(HEAD, rows, { width, right: new Set([4, 5]), style, most: { 2: 32 } });
}

function nextOrWhyNot({ next_at, error }: DeliveryDocument, now: number): string {
  const reason = clean(error ?? '');
  const left = next_at === null ? 0 : Date.parse(next_at) - now;
  return left <= 0 ? reason : `in ${duration(left)}${reason === '' ? '' : `: ${reason}`}`;
}

/** `coppice deliveries retry [ID…]`: makes deliveries due at once; coppice serve sends them. */
export function deliveriesRetry(context: Context, texts: readonly string[]): Promise<number> {
  return ask(context, async (asked) => {
    const document = await asked.retryDeliveries(texts.length === 0 ? {} : { deliveries: [...texts] });
    const { retried } = document;
    if (retried > 0) await tellUndelivered(context, asked, [{ status: 'pending' }]);
    return printResult(context, document, () => [
      retried === 0 ? 'nothing to retry' : `${retried} will be retried now`,
    ]);
  });
}
