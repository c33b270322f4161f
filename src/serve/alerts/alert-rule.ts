import { createHash } from 'node:crypto';
import type { NewDelivery } from '../../records/run/delivery.ts';

/** A rule of the configuration: what people are told of, and where. */
export interface AlertRule {
  readonly when: 'tree-failed' | 'waits-for-person' | 'cost' | 'worker-gone';
  /** Of `waits-for-person`: how long it may wait. Default 0. */
  readonly after_minutes?: number | undefined;
  /** Of `cost`: US dollars of a tree. */
  readonly usd?: number | undefined;
  /** `telegram:42`, `webhook:ops`. */
  readonly to: readonly string[];
}

/** Something that a rule looks out for. */
export interface Cause {
  /** The same whenever it is found: each target is told of it once. */
  readonly key: string;
  /** Empty where it is about no tree. */
  readonly root_id: string;
  /** Markdown. */
  readonly text: string;
}

/** One delivery for each target of the rule. */
export function alertsOf({ when, to }: AlertRule, { key, root_id, text }: Cause, now: number): NewDelivery[] {
  return to.map((target) => ({
    id: `alert-${createHash('sha256').update([when, key, target].join('\n')).digest('hex').slice(0, 32)}`,
    kind: 'alert',
    target,
    root_id,
    agent_id: root_id,
    about: null,
    body: text,
    created_at: now,
  }));
}
