import { type NewDelivery, splitTarget } from '../../core/delivery.ts';
import type { Statements } from './statements.ts';

export function enterDelivery(sql: Statements, delivery: NewDelivery): void {
  sql.insertDelivery.run(
    delivery.id,
    delivery.kind,
    delivery.target,
    splitTarget(delivery.target).channel,
    delivery.root_id,
    delivery.agent_id,
    delivery.about,
    delivery.body,
    delivery.created_at,
    delivery.created_at,
  );
}
