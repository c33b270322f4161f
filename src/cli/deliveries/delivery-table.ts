import type { Delivery } from '../../records/run/delivery.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit, type Style } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';

const HEAD = ['DELIVERY', 'KIND', 'TO', 'STATUS', 'TRIES', 'AGE', 'NEXT, OR WHY NOT'] as const;
const ID_COLUMNS = 18;
const TARGET_COLUMNS = 32;

/** Deliveries, one line each. Enough of an id is shown to tell the run or reply apart. */
export function deliveryTable(
  deliveries: readonly Delivery[],
  now: number,
  width: number,
  style: Style,
): string[] {
  const rows = deliveries.map((delivery) => [
    clean(delivery.id).slice(0, ID_COLUMNS),
    delivery.kind,
    fit(clean(delivery.target), TARGET_COLUMNS, style),
    stateMark(delivery.status, style),
    String(delivery.attempts),
    duration(now - delivery.created_at),
    why(delivery, now),
  ]);
  return tableLines(HEAD, rows, { width, right: new Set([4, 5]), style });
}

function why({ status, next_at, error }: Delivery, now: number): string {
  const reason = clean(error ?? '');
  if (status !== 'pending' || next_at <= now) return reason;
  return `in ${duration(next_at - now)}${reason === '' ? '' : `: ${reason}`}`;
}
