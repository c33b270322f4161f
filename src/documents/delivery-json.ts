import type { Delivery } from '../records/run/delivery.ts';
import { isoTime } from './iso-time.ts';
import type { DeliveryDocument } from './shapes/document-parts.ts';

/** One delivery in `coppice/deliveries/v1`. */
export function deliveryJson(delivery: Delivery): DeliveryDocument {
  return {
    id: delivery.id,
    kind: delivery.kind,
    target: delivery.target,
    status: delivery.status,
    attempts: delivery.attempts,
    error: delivery.error,
    about: delivery.about,
    agent_id: delivery.agent_id,
    root_id: delivery.root_id,
    created_at: isoTime(delivery.created_at),
    next_at: delivery.status === 'pending' ? isoTime(delivery.next_at) : null,
    ended_at: isoTime(delivery.ended_at),
  };
}
