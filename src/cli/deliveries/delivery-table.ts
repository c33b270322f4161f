import type { Delivery, DeliveryStatus } from '../../records/run/delivery.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { layOut } from '../../render/lay-out.ts';
import { fit, type Paint, paint, type Sign, type Style, sign } from '../../render/style.ts';

const HEAD = ['DELIVERY', 'KIND', 'TO', 'STATUS', 'TRIES', 'AGE', 'NEXT, OR WHY NOT'] as const;
const ID_COLUMNS = 18;
const TARGET_COLUMNS = 32;

const LOOKS: Readonly<Record<DeliveryStatus, { readonly sign: Sign; readonly paint: Paint }>> = {
  pending: { sign: '◌', paint: 'yellow' },
  delivered: { sign: '✓', paint: 'green' },
  failed: { sign: '✗', paint: 'red' },
};

/** Deliveries, one line each. Enough of an id is shown to tell the run or reply apart. */
export function deliveryTable(
  deliveries: readonly Delivery[],
  now: number,
  width: number,
  style: Style,
): string[] {
  const rows = deliveries.map((delivery) => {
    const look = LOOKS[delivery.status];
    return [
      clean(delivery.id).slice(0, ID_COLUMNS),
      delivery.kind,
      fit(clean(delivery.target), TARGET_COLUMNS, style),
      paint(style, look.paint, `${sign(style, look.sign)} ${delivery.status}`),
      String(delivery.attempts),
      duration(now - delivery.created_at),
      why(delivery, now),
    ];
  });
  return layOut(HEAD, rows, { width, right: new Set([4, 5]), style });
}

function why({ status, next_at, error }: Delivery, now: number): string {
  const reason = clean(error ?? '');
  if (status !== 'pending' || next_at <= now) return reason;
  return `in ${duration(next_at - now)}${reason === '' ? '' : `: ${reason}`}`;
}
