import type { Delivery } from '../../records/run/delivery.ts';

/** One delivery in `coppice/deliveries/v1`; times as texts. */
export function deliveryJson(delivery: Delivery): Record<string, unknown> {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  const { status, next_at } = delivery;
  return {
    id: delivery.id,
    kind: delivery.kind,
    target: delivery.target,
    status,
    attempts: delivery.attempts,
    error: delivery.error,
    about: delivery.about,
    agent_id: delivery.agent_id,
    root_id: delivery.root_id,
    created_at: time(delivery.created_at),
    next_at: status === 'pending' ? time(next_at) : null,
    ended_at: time(delivery.ended_at),
  };
}
