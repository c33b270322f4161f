import { createHash } from 'node:crypto';
import type { NewDelivery } from '../../records/run/delivery.ts';
import { deliveryId } from '../../records/run/delivery.ts';

/** A configured alert: the condition to watch for, and the targets that are told. */
export interface AlertRule {
  readonly when: 'tree-failed' | 'waits-for-person' | 'cost' | 'worker-gone';
  /** For `waits-for-person`: minutes of waiting before the alert. Default 0. */
  readonly after_minutes?: number | undefined;
  /** For `cost`: threshold in US dollars per tree. */
  readonly usd?: number | undefined;
  /** Targets, such as `telegram:42` or `webhook:ops`. */
  readonly to: readonly string[];
}

/** One occurrence of a rule's condition. */
export interface Cause {
  /** Deduplication key, the same at every poll: each target is told once. */
  readonly key: string;
  /** Empty if the cause concerns no tree. */
  readonly root_id: string;
  /** Markdown. */
  readonly text: string;
}

/** One delivery for each target of the rule. */
export function alertsOf({ when, to }: AlertRule, { key, root_id, text }: Cause, now: number): NewDelivery[] {
  return to.map((target) => ({
    id: deliveryId(
      'alert',
      createHash('sha256').update([when, key, target].join('\n')).digest('hex').slice(0, 32),
    ),
    kind: 'alert',
    target,
    root_id,
    agent_id: root_id,
    about: null,
    body: text,
    created_at: now,
  }));
}
