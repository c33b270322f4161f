import { randomUUID } from 'node:crypto';
import type { Agent } from '../core/agent.ts';
import type { MailKind, NewMail } from '../core/mail.ts';
import type { Order } from '../core/order.ts';
import { storable } from '../core/text.ts';

/** Mail from the person at this machine. */
export function humanMail(to: Agent, kind: Extract<MailKind, 'letter' | 'control'>, body: string): NewMail {
  return {
    id: randomUUID(),
    root_id: to.root_id,
    to_id: to.id,
    from_id: null,
    from_name: 'you',
    kind,
    body: storable(body),
    sent_at: Date.now(),
  };
}

/** An order as an agent's mailbox takes it. */
export function orderMail(to: Agent, order: Order): NewMail {
  return humanMail(to, 'control', JSON.stringify(order));
}
